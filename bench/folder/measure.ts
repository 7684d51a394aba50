/**
 * One run of each scenario of folders: the command line as an operator uses it, and programs that do the minimum.
 */
import { execFileSync } from "node:child_process"
import { appendFileSync, closeSync, mkdirSync, openSync, utimesSync, writeFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { bin, type Program, startProgram } from "../programs.ts"
import type { Figures, Settings } from "../scenario.ts"
import { withFolder } from "../tables/folders.ts"
import { promotedAt, until, versionOf } from "../venue/machines.ts"
import { cpuOf, cpuOfChildren } from "../venue/usage.ts"

const configuration = `import { content, defineConfig, folderSource } from "vitrine"

export default defineConfig({
  plugins: [content({ sources: [folderSource({ id: "bench", directory: "content", maxBytes: 500_000_000 })] })]
})
`

const jpegBeginning = [0xff, 0xd8, 0xff, 0xda]
const jpegEnd = [0xff, 0xd9]

/** Runs with a project whose `content` has this many pictures in folders of 100, and a table that refers to them. */
const withPictures = (files: number, run: (directory: string) => Promise<Figures>): Promise<Figures> =>
  withFolder((directory) => {
    mkdirSync(join(directory, "content"))
    const yesterday = new Date(Date.now() - 86_400_000)
    const picture = Buffer.alloc(10_000)
    const paths = Array.from({ length: files }, (_, index) => `${Math.floor(index / 100)}/${index}.jpg`)
    for (const [index, path] of paths.entries()) {
      if (index % 100 === 0) mkdirSync(join(directory, "content", `${index / 100}`))
      const file = join(directory, "content", path)
      picture.fill(`\0picture ${index} `)
      // Without the beginning and the end of a JPEG, each file gets a warning, and warnings would be measured.
      picture.set(jpegBeginning)
      picture.set(jpegEnd, picture.length - jpegEnd.length)
      writeFileSync(file, picture)
      utimesSync(file, yesterday, yesterday)
    }
    const rows = paths.map((path, index) => `${index},Object ${index},${path}\n`)
    writeFileSync(join(directory, "content", "Objects.csv"), `id,title,photo\n${rows.join("")}`)
    writeFileSync(join(directory, "vitrine.config.ts"), configuration)
    return run(directory)
  })

/** Wall time, and processor time of the child processes that have ended meanwhile, both in milliseconds. */
const timed = async (run: () => unknown) => {
  const cpu = cpuOfChildren()
  const begin = performance.now()
  await run()
  return { time: performance.now() - begin, cpu: cpuOfChildren() - cpu }
}

const runIn = (directory: string, { nodeArguments }: Settings) => {
  const place = { directory, nodeArguments }
  return (...program: Program) => timed(() => startProgram(program, place).ended())
}

/** `cp -r`, and a walk with one `stat` for each file. */
export const copyAndWalk = (files: number): Promise<Figures> =>
  withPictures(files, async (directory) => {
    const call = (program: string, ...args: ReadonlyArray<string>) =>
      timed(() => execFileSync(program, args, { cwd: directory, stdio: "ignore" }))
    const copied = await call("cp", "-r", "content", "copy")
    const walked = await call("find", "content", "-type", "f", "-printf", "%p %s %T@\n")
    return { cpuFirst: copied.cpu, cpuAgain: walked.cpu }
  })

/** Fetches it twice, by programs that end. */
export const fetchTwice = (files: number, settings: Settings): Promise<Figures> =>
  withPictures(files, async (directory) => {
    const run = runIn(directory, settings)
    const first = await run(bin, "fetch")
    const again = await run(bin, "fetch")
    return { cpuFirst: first.cpu, cpuAgain: again.cpu }
  })

/** A controller that watches it: the first edit, a later edit, and its cost without edits after `restMs`. */
export const watch = (
  { files, idleMs, restMs }: { readonly files: number; readonly idleMs: number; readonly restMs: number },
  { nodeArguments }: Settings
): Promise<Figures> =>
  withPictures(files, async (directory) => {
    const controller = startProgram([bin, "start"], { directory, nodeArguments })
    const machine = { downloads: join(directory, "downloads") }
    await until(() => versionOf(machine) !== undefined)
    await sleep(10_000)
    const edit = async (index: number) => {
      const before = versionOf(machine)
      const edited = Date.now()
      appendFileSync(join(directory, "content", "0", `${index}.jpg`), "edited")
      await until(() => versionOf(machine) !== before)
      return promotedAt(machine) - edited
    }
    const firstEdit = await edit(0)
    await sleep(10_000)
    const laterEdit = await edit(1)
    await sleep(restMs)
    const cpu = cpuOf(controller.pid)
    await sleep(idleMs)
    const idle = (cpuOf(controller.pid) - cpu) / idleMs
    await controller.stop()
    return { firstEdit, laterEdit, idle }
  })

/** A record of about 600 bytes. */
const writeRecords = (path: string, records: number, edition: number) => {
  const file = openSync(path, "w")
  for (let index = 0; index < records; index++) {
    const record = {
      id: `rec${index}`,
      title: `Object no. ${index}, with a title of usual length`,
      text: "Ein Gefäß aus Ton, um 1890; said to be “a gift of the maker”. ".repeat(4),
      year: 1700 + (index % 320) + (index % 1000 === 0 ? edition : 0),
      tags: ["ceramics", `room ${index % 40}`],
      width: (index % 500) + 0.5,
      isShown: true
    }
    writeSync(file, `${index === 0 ? "[" : ","}\n${JSON.stringify(record)}`)
  }
  writeSync(file, "\n]\n")
  closeSync(file)
}

/** Runs with a project with two versions of a table, in which one record in a thousand has changed. */
const withVersions = (
  records: number,
  settings: Settings,
  run: (directory: string, versions: ReadonlyArray<string>) => Promise<Figures>
): Promise<Figures> =>
  withFolder(async (directory) => {
    mkdirSync(join(directory, "content"))
    writeFileSync(join(directory, "vitrine.config.ts"), configuration)
    const call = runIn(directory, settings)
    const machine = { downloads: join(directory, "downloads") }
    const versions: Array<string> = []
    for (const edition of [0, 1]) {
      writeRecords(join(directory, "content", "Objects.json"), records, edition)
      await call(bin, "fetch")
      versions.push(join(machine.downloads, "versions", versionOf(machine) ?? "", "bench", "Objects.json"))
    }
    return run(directory, versions)
  })

export const diff = (records: number, settings: Settings): Promise<Figures> =>
  withVersions(records, settings, (directory) => runIn(directory, settings)(bin, "diff"))

const parsing =
  "for (const file of process.argv.slice(1)) JSON.parse(require('node:fs').readFileSync(file, 'utf8'))"

/** `JSON.parse` of both files. */
export const parseBoth = (records: number, settings: Settings): Promise<Figures> =>
  withVersions(records, settings, (directory, versions) =>
    runIn(directory, settings)("-e", parsing, ...versions)
  )
