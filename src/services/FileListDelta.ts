/**
 * How the list of files of one version differs from that of another: what a replica downloads in the place of a list that
 * is nearly the one it has.
 *
 * Nothing is taken from it unless the list that it leads to has the digest that the manifest names.
 */
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import type { SourceFile } from "./ContentSource.ts"
import { FileList, fileListText, ListedSource, listedSources } from "./FileList.ts"
import { VersionId } from "./VersionStore.ts"

export const FileListDelta = Schema.Struct({
  ...FileList.fields,
  /** The version that the list is compared with. */
  since: VersionId,
  sources: listedSources(
    Schema.Struct({
      /** `files` are those that the source did not have, or had with another content. */
      ...ListedSource.fields,
      /** The paths of the files that the source had, and has no more. */
      removed: Schema.Array(Schema.String)
    })
  )
})
export type FileListDelta = typeof FileListDelta.Type

export const FileListDeltaJson = Schema.parseJson(FileListDelta)

export const mediaType = "application/vnd.vitrine.files-delta+json"

/** What is to be changed in the base so that it is the list. */
export const deltaOf = (base: FileList, list: FileList): FileListDelta => ({
  ...list,
  since: base.versionId,
  sources: list.sources.map(({ files, ...source }) => {
    const before = filesIn(base, source.sourceId)
    return {
      ...source,
      files: Record.filter(files, (file, path) => !isSame(file, before[path])),
      removed: Object.keys(before).filter((path) => !Record.has(files, path))
    }
  })
})

/** The text of the list of which this is the delta, where the base is the one that it was made from. */
export const applyDelta = (base: FileList, { since, sources, ...version }: FileListDelta): string =>
  fileListText({
    ...version,
    sources: sources.map(({ files, removed, ...source }) => {
      const gone = new Set(removed)
      const kept = Record.filter(filesIn(base, source.sourceId), (_, path) => !gone.has(path))
      return { ...source, files: { ...kept, ...files } }
    })
  })

const filesIn = ({ sources }: FileList, id: string): Readonly<Record<string, SourceFile>> =>
  sources.find(({ sourceId }) => sourceId === id)?.files ?? {}

const isSame = (file: SourceFile, before: SourceFile | undefined): boolean =>
  before?.sha256 === file.sha256 && before.size === file.size
