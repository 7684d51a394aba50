/**
 * What a source of documents of one's own is made of: options, requests, documents, and `make`, which saves them.
 */

export { type Document, type DocumentContent, DocumentNotSaved, Records, Value } from "./Document.ts"
export { type DocumentConfig as Config, DocumentOptions as Options, define } from "./DocumentOptions.ts"
export { type DocumentSource, type DocumentsError, makeDocumentSource as make } from "./makeDocumentSource.ts"
export { fileFieldsOfReader, withFiles } from "./media/fileOptions.ts"
export {
  type Answer,
  make as makeRequests,
  RequestFailed,
  type RequestOptions,
  type Requests
} from "./Requests.ts"
