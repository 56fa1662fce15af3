import GRDB
import CountersignCore
enum Placeholder {}
