countersign serve
