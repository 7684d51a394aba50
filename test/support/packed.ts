/**
 * The package as npm packs it.
 */
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { repository } from "./documents.ts"

/** The path of the tarball, and what npm says of it. */
export class Packed extends Context.Tag("test/Packed")<
  Packed,
  {
    readonly tarball: string
    /** In bytes. */
    readonly size: number
    /** The paths of the files in it. */
    readonly paths: ReadonlyArray<string>
  }
>() {
  static readonly layer = Layer.scoped(
    Packed,
    Effect.gen(function* () {
      const folder = yield* newFolder
      // Without its scripts: they would build what other tests run meanwhile.
      const said = execFileSync("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], {
        cwd: repository,
        encoding: "utf8"
      })
      const [{ filename, files, size }] = JSON.parse(said)
      return {
        tarball: join(folder, filename),
        size,
        paths: files.map(({ path }: { readonly path: string }) => path)
      }
    })
  )
}

/** A folder for an installation, until the scope ends. */
export const newFolder = Effect.flatMap(FileSystem.FileSystem, (fs) =>
  Effect.flatMap(fs.makeTempDirectoryScoped({ prefix: "vitrine-package-" }), fs.realPath)
)
