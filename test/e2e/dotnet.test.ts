/**
 * The example for Unity and .NET, compiled and run under Mono.
 */
import { execFileSync, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { isMissing, pathOf } from "../support/programs.ts"
import * as Received from "../support/Received.ts"

const source = fileURLToPath(new URL("../../scratchpad/dotnet/ContentFolder.cs", import.meta.url))

describe("ContentFolder.cs", () => {
  it.scopedLive.skipIf(isMissing("mcs"))(
    "waits for the first version, and shows what it has while the manifest is damaged (skipped where Mono cannot be had)",
    () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped({ prefix: "vitrine-" })
        const program = `${folder}/ContentFolder.exe`
        execFileSync(pathOf("mcs"), ["-r:System.Runtime.Serialization", `-out:${program}`, source])
        const downloads = `${folder}/downloads`
        const child = yield* Effect.acquireRelease(
          Effect.sync(() => spawn("mono", [program, downloads, "a.json"])),
          (child) => Effect.sync(() => child.kill("SIGKILL"))
        )
        const stdout = Received.make()
        const stderr = Received.make()
        child.stdout.on("data", stdout.append)
        child.stderr.on("data", stderr.append)
        child.once("close", () => {
          stdout.end()
          stderr.end()
        })
        const manifest = (content: string) => fs.writeFileString(`${downloads}/manifest.json`, content)
        const naming = (id: string) => JSON.stringify({ versionId: id, versionPath: `versions/${id}` })

        yield* fs.makeDirectory(downloads)
        yield* manifest("{")
        yield* stderr.until((text) => text.includes("Unexpected end of file"))
        yield* manifest("null")
        yield* stderr.until((text) => text.includes("The manifest names no version."))
        yield* manifest(naming("gone"))
        yield* stderr.until((text) => text.includes("gone/a.json"))

        yield* fs.makeDirectory(`${downloads}/versions/here`, { recursive: true })
        yield* fs.writeFileString(`${downloads}/versions/here/a.json`, "[]")
        yield* manifest(naming("here"))
        expect(yield* stdout.until((text) => text.includes("\n"))).toBe("here: 2 characters\n")
        expect(child.exitCode).toBeNull()
      }).pipe(Effect.provide(NodeContext.layer))
  )
})
