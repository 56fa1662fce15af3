import ArgumentParser
@main struct Tool: ParsableCommand {}
