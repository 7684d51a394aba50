/**
 * Answers that a server can say of that they have not changed, in memory: 16 MiB of text, those that were used last.
 */
import { type Headers, mayChangeUnseen } from "./headers.ts"
import type { Answer } from "./Requests.ts"

const maxCharacters = 16 * 1024 * 1024

export const makeRememberedAnswers = () => {
  /** The one that was used last comes last. */
  const answers = new Map<string, Answer>()
  let characters = 0

  const keyOf = (url: string, headers: Headers): string => JSON.stringify([url, headers])

  const remove = (key: string): void => {
    const answer = answers.get(key)
    if (answer === undefined) return
    characters -= key.length + answer.text.length
    answers.delete(key)
  }

  return {
    /** With the headers that ask whether it is still the same. */
    find: (url: string, headers: Headers) => {
      const answer = answers.get(keyOf(url, headers))
      if (answer === undefined) return undefined
      const { etag, "last-modified": modified } = answer.headers
      const conditions: Headers =
        etag === undefined ? { "if-modified-since": modified ?? "" } : { "if-none-match": etag }
      return { answer, conditions }
    },

    add: (url: string, headers: Headers, answer: Answer): void => {
      const key = keyOf(url, headers)
      remove(key)
      const { etag, "last-modified": modified } = answer.headers
      const isProvable = (etag ?? modified) !== undefined && !mayChangeUnseen(answer.headers)
      if (!isProvable || key.length + answer.text.length > maxCharacters) return
      answers.set(key, answer)
      characters += key.length + answer.text.length
      for (const [oldest] of answers) {
        if (characters <= maxCharacters) break
        remove(oldest)
      }
    }
  }
}

/**
 * An answer that has not changed, with the headers that now say so; those about its body stay, its tag and its date among them. Under those
 * of a body that did not come, this one would not change any more.
 */
export const renewed = (answer: Answer, headers: Headers): Answer => ({
  ...answer,
  headers: {
    ...answer.headers,
    ...Object.fromEntries(
      Object.entries(headers).filter(
        ([name]) => !/^(?:content-.*|transfer-encoding|etag|last-modified)$/.test(name)
      )
    )
  }
})
