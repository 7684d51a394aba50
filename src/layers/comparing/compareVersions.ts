/**
 * Finds the differences of two versions on disk.
 *
 * Files with equal digests are not read. Tables are compared by records and fields, one table at a time and in steps,
 * so that events are sent meanwhile. Tables of more than 192 MiB are compared as files.
 */
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Stream from "effect/Stream"
import type { FileList } from "../../files/FileList.ts"
import { inTurns, nextTurn } from "../../internal/nextTurn.ts"
import { printableLine } from "../../internal/printable.ts"
import type { RecordKey } from "../../internal/recordKey.ts"
import {
  CannotCompare,
  type ChangeKind,
  type Changes,
  type ContentDiff,
  type DocumentDiff,
  type FileChange,
  type RecordChange
} from "../../services/ContentDiff.ts"
import { type VersionId, VersionStore } from "../../services/VersionStore.ts"
import { oldIn } from "../versions/sourceNotes.ts"
import { listOf, pathOf } from "../versions/VersionFolders.ts"
import { recordChange } from "./changeTexts.ts"
import { type EntryChange, makeComparison } from "./compareDocuments.ts"
import { NoTable, openTables, type Tables, tryRead } from "./readTables.ts"

const maxRecords = 1000
/** The least number of changes that each table lists, however many the other tables have. */
const minRecords = 3
const maxFiles = 1000
const maxDocuments = 100
/** The largest table, in bytes. */
const maxDocumentBytes = 192 * 1024 * 1024
/** The longest path or name, in characters. */
const maxPath = 300

/** A file that differs in two versions. */
export interface ChangedFile {
  readonly sourceId: string
  readonly path: string
  readonly change: ChangeKind
  /** The old and the new size, in bytes. `before` is missing for an added file, `after` for a removed one. */
  readonly before?: number | undefined
  readonly after?: number | undefined
  /** The key of its records in the later version. */
  readonly key?: RecordKey | undefined
  /** Whether its source has no records, before and after: then all its files, even JSON, are compared as files. */
  readonly isFile?: boolean | undefined
}

/** The lists of files of two versions on disk, and their differences. */
export interface Pair {
  readonly from: FileList
  readonly to: FileList
  /** In the order of the later version; removed files come last. */
  readonly changed: ReadonlyArray<ChangedFile>
}

/** Reads the lists of files of two versions, and finds their differences. */
export const readPair = Effect.fnUntraced(function* (fromId: VersionId, toId: VersionId) {
  const [from, to] = [yield* readListed(fromId), yield* readListed(toId)]
  return { from, to, changed: changedFiles(from.sources, to.sources) } satisfies Pair
})

const readListed = Effect.fnUntraced(function* (versionId: VersionId) {
  const found = yield* listOf(versionId)
  if (Option.isSome(found)) return found.value.list
  const versions = yield* (yield* VersionStore).versions
  return yield* new CannotCompare({
    detail: `the files.json of version ${versionId} is missing or cannot be read`,
    versions: versions.map(({ versionId }) => versionId)
  })
})

/** The files of a source. */
type Listed = Pick<FileList["sources"][number], "files" | "keys" | "records" | "sourceId" | "values">

/** Files without a file of equal digest under the same path on the other side. */
export const changedFiles = (
  from: ReadonlyArray<Listed>,
  to: ReadonlyArray<Listed>
): ReadonlyArray<ChangedFile> => {
  const sourceIn = (sources: ReadonlyArray<Listed>, id: string): Listed =>
    sources.find(({ sourceId }) => sourceId === id) ?? { sourceId: id, records: 0, files: {} }
  const ids = new Set([...to, ...from].map(({ sourceId }) => sourceId))
  return [...ids].flatMap((sourceId) => {
    const [before, after] = [sourceIn(from, sourceId), sourceIn(to, sourceId)]
    const isFile = hasNone(before) && hasNone(after)
    const paths = new Set([...Object.keys(after.files), ...Object.keys(before.files)])
    return [...paths].flatMap((path): ReadonlyArray<ChangedFile> => {
      const [old, recent] = [own(before.files, path), own(after.files, path)]
      if (old?.sha256 === recent?.sha256) return []
      const change = old === undefined ? "added" : recent === undefined ? "removed" : "changed"
      const key = own(after.keys ?? {}, path)
      return [{ sourceId, path, isFile, change, before: old?.size, after: recent?.size, key }]
    })
  })
}

/** Old lists of files may have no counts. */
const hasNone = ({ records, values = 0 }: Listed): boolean => records === 0 && values === 0

/** A file may be called `constructor`, so only own properties count. */
const own = <A>(record: Record.ReadonlyRecord<string, A>, name: string): A | undefined =>
  Option.getOrUndefined(Record.get(record, name))

/** How many bytes must be read to compare the tables. */
export const bytesToRead = ({ changed }: Pair): number =>
  changed.filter(mayBeDocument).reduce((sum, { after = 0, before = 0 }) => sum + before + after, 0)

/** Attachments are never compared by their content. */
const mayBeDocument = ({ after = 0, before = 0, isFile, path }: ChangedFile): boolean =>
  isFile !== true &&
  path.endsWith(".json") &&
  !path.includes("/") &&
  Math.max(before, after) <= maxDocumentBytes

/** Compares two versions. */
export const comparePair = Effect.fnUntraced(function* ({ changed, from, to }: Pair) {
  const store = yield* VersionStore
  const inVersion =
    ({ versionId }: FileList): FolderOf =>
    (sourceId) =>
      join(store.directory, pathOf(versionId), sourceId)
  return {
    from: from.versionId,
    to: to.versionId,
    ...(yield* oldIn(store, to.versionId, to.sources)),
    ...(yield* compareFiles(changed, inVersion(from), inVersion(to)))
  } satisfies ContentDiff
})

/** The absolute path of the folder of a source. */
type FolderOf = (sourceId: string) => string

/** Compares changed files in the folders of one version with those of another. */
export const compareFiles = Effect.fnUntraced(function* (
  changed: ReadonlyArray<ChangedFile>,
  from: FolderOf,
  to: FolderOf
) {
  const documents: Array<DocumentDiff> = []
  const files: Array<FileChange> = []
  let room = maxRecords - minRecords * maxDocuments
  for (const file of changed) {
    const document =
      documents.length < maxDocuments && mayBeDocument(file)
        ? yield* compareFile(from, to, file, minRecords + room)
        : Option.none()
    if (Option.isSome(document)) {
      documents.push(document.value)
      room -= Math.max(0, document.value.records.length - minRecords)
    } else {
      files.push({ sourceId: file.sourceId, path: file.path, change: file.change })
    }
  }
  const listed = files.slice(0, maxFiles).map(({ path, ...file }) => ({ ...file, path: printablePath(path) }))
  return {
    documents,
    files: { ...countChanges(files), list: listed, more: files.length - listed.length }
  }
})

const printablePath = (path: string): string => printableLine(path, maxPath)

const countChanges = (changes: ReadonlyArray<{ readonly change: ChangeKind }>): Changes => ({
  added: changes.filter(({ change }) => change === "added").length,
  changed: changes.filter(({ change }) => change === "changed").length,
  removed: changes.filter(({ change }) => change === "removed").length
})

/** `None` if one file is no table, or if they are tables of different kinds. */
const compareFile = Effect.fnUntraced(function* (
  from: FolderOf,
  to: FolderOf,
  { after: sizeAfter, before: sizeBefore, key, path, sourceId }: ChangedFile,
  room: number
) {
  const before = Option.map(Option.fromNullable(sizeBefore), () => join(from(sourceId), path))
  const after = Option.map(Option.fromNullable(sizeAfter), () => join(to(sourceId), path))
  return yield* Effect.flatMap(openTables(before, after, key), (tables) => compareTables(tables, room)).pipe(
    Effect.map(
      ({ records, ...changes }): DocumentDiff => ({
        sourceId,
        document: printablePath(path.slice(0, -".json".length)),
        path: printablePath(path),
        ...changes,
        records,
        more: changes.added + changes.changed + changes.removed - records.length
      })
    ),
    Effect.option
  )
})

const compareTables = Effect.fnUntraced(function* ({ batches, holds }: Tables, room: number) {
  const counts = { added: 0, changed: 0, removed: 0 }
  const records: Array<RecordChange> = []
  const comparison = makeComparison()
  function* count(changes: ReadonlyArray<EntryChange>): Generator<void, void> {
    for (const change of changes) {
      counts[change.change]++
      if (records.length < room) records.push(yield* recordChange(holds, change))
    }
  }
  const countAll = (changes: () => ReadonlyArray<EntryChange>) =>
    Effect.flatMap(tryRead(changes), (changes) => inTurns(count(changes))).pipe(
      // For example, a value that is nested too deeply.
      Effect.catchAllDefect((cause) => new NoTable({ cause }))
    )
  yield* Stream.runForEach(batches, (batch) =>
    Effect.zipRight(
      countAll(() => comparison.add(batch)),
      nextTurn
    )
  )
  yield* countAll(comparison.end)
  return { ...counts, records }
})
