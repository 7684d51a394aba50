/**
 * The webhooks of the hosted API, as lists of the edits in a folder. Files are compared when a list is read.
 */
import { readdir, stat } from "node:fs/promises"
import { basename, join } from "node:path"
import { identifier, tableId } from "./readTables.ts"

const weekMs = 7 * 24 * 60 * 60 * 1000

export const makeChangeFeed = (directory: string) => {
  const payloads: Array<object> = []
  /** The number of the first payload of each webhook, by id. */
  const webhooks = new Map<string, number>()
  let known: ReadonlyMap<string, string> | undefined

  const notice = async () => {
    const files = await filesOf(directory)
    const before = known ?? files
    known = files
    const tables = [...files.keys()].filter(isTable)
    const edited = [...files.keys()].filter(
      (file) => before.has(file) && before.get(file) !== files.get(file)
    )
    const created = tables.filter((file) => !before.has(file))
    const destroyed = [...before.keys()].filter((file) => isTable(file) && !files.has(file))
    // A picture, or the views, may belong to any table.
    const changed = edited.every(isTable) ? edited : tables
    if (changed.length + created.length + destroyed.length > 0) {
      payloads.push({
        timestamp: new Date().toISOString(),
        baseTransactionNumber: payloads.length + 1,
        payloadFormat: "v0",
        changedTablesById: byTable(changed),
        createdTablesById: byTable(created),
        destroyedTableIds: destroyed.map(idOf)
      })
    }
  }

  const about = (id: string) => ({ id, expirationTime: new Date(Date.now() + weekMs).toISOString() })

  return {
    list: async () => {
      await notice()
      const list = [...webhooks].map(([id, first]) => ({
        ...about(id),
        isHookEnabled: true,
        notificationUrl: null,
        cursorForNextPayload: payloads.length - first + 1,
        specification: {
          options: { filters: { dataTypes: ["tableData", "tableFields", "tableMetadata"] } }
        }
      }))
      return { webhooks: list }
    },
    create: async () => {
      await notice()
      const id = identifier("ach", Date.now(), webhooks.size)
      webhooks.set(id, payloads.length)
      return about(id)
    },
    remove: (id: string) => webhooks.delete(id),
    /** Nothing if there is no such webhook. */
    payloads: async (id: string, cursor: number, limit: number) => {
      await notice()
      const first = webhooks.get(id)
      if (first === undefined) return undefined
      const start = first + cursor - 1
      const page = payloads.slice(start, start + limit)
      return {
        payloads: page,
        cursor: cursor + page.length,
        mightHaveMore: start + page.length < payloads.length
      }
    }
  }
}

/** All files of the folder, each with a key that changes with an edit. */
const filesOf = async (directory: string) => {
  const entries = await readdir(directory, { recursive: true })
  const files = entries.map(async (file) => {
    const stats = await stat(join(directory, file)).catch(() => undefined)
    return stats?.isFile() ? [[file, `${stats.mtimeMs} ${stats.size}`] as const] : []
  })
  return new Map((await Promise.all(files)).flat())
}

const isTable = (file: string) => /^[^/\\]+\.csv$/.test(file)

const idOf = (file: string) => tableId(basename(file, ".csv"))

const byTable = (files: ReadonlyArray<string>) => Object.fromEntries(files.map((file) => [idOf(file), {}]))
