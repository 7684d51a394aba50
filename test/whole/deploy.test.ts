/**
 * The files with which systems start a controller: each is what its system reads, and what it starts runs.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { startedBy, taskSettings, unitSettings } from "../support/deployment.ts"
import { read } from "../support/documents.ts"
import { isMissing, pathOf } from "../support/programs.ts"
import { makeProject, makeProjectForOthers } from "../support/project.ts"
import { eventually } from "../support/waiting.ts"

/** A user that owns nothing. */
const nobody = 65534

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "vitrine-deploy-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

/** What a service may write to. */
const ownFolders = ["downloads", ".vitrine"]

/** Starts what a system would start, in a project, and ends it as that system does. */
const runs = Effect.fnUntraced(function* (
  name: keyof typeof startedBy,
  options: { readonly uid?: number; readonly before?: ReadonlyArray<ReadonlyArray<string>> } = {}
) {
  const { args, program } = startedBy[name]()
  const [bin, ...rest] = args
  expect(program).toMatch(/[/\\]node(\.exe)?$/)
  expect(bin).toBe("node_modules/vitrine/dist/bin.cjs")

  const { uid } = options
  const project = uid === undefined ? makeProject : makeProjectForOthers
  const { folder, read, run, serveTables, write } = yield* project
  const TABLES = yield* serveTables()
  chmodSync(folder, 0o755)
  if (uid !== undefined) {
    for (const name of ownFolders) {
      mkdirSync(`${folder}/${name}`)
      chownSync(`${folder}/${name}`, uid, uid)
    }
    // Root has fetched before the service was there.
    expect(yield* Effect.flatMap(run(["fetch"], { TABLES }), ({ ended }) => ended)).toMatchObject({
      status: 0
    })
    yield* write("tables/Objects.csv", `${yield* read("tables/Objects.csv")}A-3,Compass\n`)
  }
  for (const [program = "", ...args] of options.before ?? []) {
    const inFolder = args.map((arg) => arg.replace("/opt/exhibit", folder).replace(/^vitrine$/, String(uid)))
    execFileSync(program, inFolder)
  }
  const controller = yield* run(rest, { TABLES, HOME: "/nonexistent" }, options)
  /** Runs a command beside it, as it stands in the documentation: as root, without options. */
  const command = (...args: ReadonlyArray<string>) => Effect.flatMap(run(args), ({ ended }) => ended)
  return { command, controller, read }
}, Effect.provide(NodeContext.layer))

describe("the service of systemd", () => {
  it.scopedLive.skipIf(process.getuid?.() !== 0)(
    "runs as a user that may write to two folders only, and is found by the commands (skipped unless root)",
    () =>
      Effect.gen(function* () {
        const settings = unitSettings(read("deploy/systemd/vitrine.service"))
        expect(settings.get("ReadWritePaths")).toEqual(ownFolders.map((name) => `/opt/exhibit/${name}`))
        expect(read("docs/operate.md")).toContain(
          `\ninstall -d -o vitrine -g vitrine ${ownFolders.join(" ")}\n`
        )
        const {
          command,
          controller,
          read: readFile
        } = yield* runs("systemd", {
          uid: nobody,
          before: (settings.get("ExecStartPre") ?? []).map((line) => line.replace(/^[-+]+/, "").split(" "))
        })
        const versionId = yield* controller.logged(/New version (\S+):/)
        expect(JSON.parse(yield* readFile("downloads/manifest.json"))).toMatchObject({ versionId })
        yield* controller.logged(/(Ready)/)
        expect(yield* command("status")).toMatchObject({ status: 0, stdout: expect.stringMatching(/^OK\n/) })
        expect(yield* command("hold")).toMatchObject({
          status: 0,
          stdout: `Version ${versionId} is active, and stays until "vitrine resume".\n`
        })
        yield* controller.signal("SIGTERM")
        expect(yield* controller.ended).toMatchObject({
          status: 0,
          stderr: expect.not.stringMatching(/ (warn|error) /)
        })
      })
  )

  it.scopedLive.skipIf(isMissing("systemd-analyze"))(
    "is accepted by systemd, like the kiosk's (skipped without systemd)",
    () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        const verify = (name: string, change: (text: string) => string = (text) => text) => {
          // What it starts is on another machine.
          const unit = read(`deploy/systemd/${name}`).replace(/^ExecStart=\S+/m, "ExecStart=/bin/true")
          writeFileSync(`${folder}/${name}`, change(unit))
          const { status, stderr } = spawnSync(pathOf("systemd-analyze"), ["verify", `${folder}/${name}`], {
            encoding: "utf8"
          })
          return { status, stderr }
        }
        const fine = { status: 0, stderr: "" }
        expect(verify("vitrine.service")).toEqual(fine)
        expect(verify("kiosk.service")).toEqual(fine)
        const misspelt = (unit: string) => unit.replace("ProtectHome=yes", "ProtectHomes=yes")
        expect(verify("vitrine.service", misspelt)).not.toEqual(fine)
      })
  )

  it.skipIf(isMissing("systemd-analyze"))(
    "is no more exposed than a network service has to be (skipped without systemd)",
    () => {
      const analyze = (threshold: number) =>
        spawnSync(
          pathOf("systemd-analyze"),
          [
            ...["security", "--offline=true", `--threshold=${threshold}`, "--no-pager"],
            join(import.meta.dirname, "../../deploy/systemd/vitrine.service")
          ],
          { encoding: "utf8" }
        )
      // In tenths, of 10.0 for a service that is free to do everything.
      expect(analyze(20)).toMatchObject({ status: 0 })
      expect(analyze(5).status).not.toBe(0)
    }
  )
})

describe.skipIf(isMissing("python3"))(
  "a definition that starts a controller (skipped without Python)",
  () => {
    it.scopedLive.each(["launchd", "the Task Scheduler"] as const)(
      "of %s runs it with a log in a file",
      (name) =>
        Effect.gen(function* () {
          const { controller, read } = yield* runs(name)
          const isReady = read("logs/controller.log").pipe(
            Effect.map((log) => log.includes("Ready")),
            Effect.orElseSucceed(() => false)
          )
          yield* eventually(isReady)
          yield* controller.signal("SIGTERM")
          expect(yield* controller.ended).toMatchObject({ status: 0 })
        })
    )

    it("as a task of Windows has no time limit", () => {
      expect(taskSettings()).toMatchObject({
        Interval: "PT1M",
        MultipleInstancesPolicy: "IgnoreNew",
        ExecutionTimeLimit: "PT0S",
        DisallowStartIfOnBatteries: "false",
        StopIfGoingOnBatteries: "false"
      })
    })
  }
)
