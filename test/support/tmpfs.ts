/**
 * Small separate disks, on Linux, where this user may mount them.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmdirSync, statfsSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

const run = (program: string, ...args: ReadonlyArray<string>) =>
  execFileSync(program, args, { stdio: "ignore" })

const mount = () => {
  const folder = mkdtempSync(join(tmpdir(), "vitrine-disk-"))
  try {
    run("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder)
    return folder
  } catch (error) {
    rmdirSync(folder)
    throw error
  }
}

const unmount = (folder: string) => {
  run("umount", "--lazy", folder)
  rmdirSync(folder)
}

/** Whether this user may mount disks: root may, outside of most containers. */
export const mayMount = (() => {
  if (process.platform !== "linux" || process.getuid?.() !== 0) {
    return false
  }
  try {
    unmount(mount())
    return true
  } catch {
    return false
  }
})()

export interface Disk {
  readonly folder: string
  /** Fills it up, but for so many blocks. */
  readonly fill: (blocksLeft: number) => Effect.Effect<void, unknown, FileSystem.FileSystem>
  /** Takes away what it was filled up with. */
  readonly free: Effect.Effect<void, unknown, FileSystem.FileSystem>
  readonly makeReadOnly: Effect.Effect<void>
  readonly makeWritable: Effect.Effect<void>
  /** Leaves room for so many further files, whatever their size. */
  readonly limitFiles: (left: number) => Effect.Effect<void>
}

/** A disk of 256 KiB, there until the scope ends. */
export const smallDisk: Effect.Effect<Disk, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(mount),
  (folder) => Effect.sync(() => unmount(folder))
).pipe(
  Effect.map((folder) => {
    const filler = `${folder}/filler`
    return {
      folder,
      fill: (blocksLeft) =>
        Effect.flatMap(FileSystem.FileSystem, (fs) =>
          Effect.suspend(() => {
            const { bavail, bsize } = statfsSync(folder)
            return fs.writeFile(filler, new Uint8Array((bavail - blocksLeft) * bsize))
          })
        ),
      free: Effect.flatMap(FileSystem.FileSystem, (fs) => fs.remove(filler)),
      makeReadOnly: Effect.sync(() => run("mount", "-o", "remount,ro", folder)),
      makeWritable: Effect.sync(() => run("mount", "-o", "remount,rw", folder)),
      limitFiles: (left) =>
        Effect.sync(() => {
          const { ffree, files } = statfsSync(folder)
          run("mount", "-o", `remount,nr_inodes=${files - ffree + left}`, folder)
        })
    }
  })
)

/** Lets nobody write to a folder any more until the scope ends. */
export const makeFolderReadOnly = (folder: string): Effect.Effect<void, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      run("mount", "--bind", folder, folder)
      run("mount", "-o", "remount,bind,ro", folder)
    }),
    () => Effect.sync(() => run("umount", "--lazy", folder))
  )
