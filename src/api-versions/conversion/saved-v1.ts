import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { group } from '../group.ts';
import { isNestedWithin, isObject, type JsonObject } from './read-json.ts';

/** The annotation of the v1alpha1 view that holds the complete v1 spec and status; a stored v1 object never has it. */
export const savedAnnotation = `${group}/v1`;

/** The API server refuses more than that in all annotations together, and with it the whole list. */
const maxAnnotationsBytes = 256 * 1024;
/** Longer ones are compressed, which leaves room for the annotations of others. */
const maxPlainBytes = 32 * 1024;
/** Far more than the API server stores of one object: a small text must not unpack to gigabytes. */
const maxUnpackedBytes = 4 * 1024 * 1024;
const maxDepth = 64;
const packedPrefix = 'deflate:';

/**
 * The text of the annotation: JSON, or compressed when it is long; of the spec alone when both do not fit beside the other
 * annotations. Undefined when there is nothing to save or no room even so: a refused list would be worse than a view whose edit
 * loses v1-only fields.
 */
export function writeSaved({ spec, status }: { spec: unknown; status: unknown }, others: JsonObject): string | undefined {
  if ((spec === undefined && status === undefined) || !isNestedWithin([spec, status], maxDepth)) return undefined;
  const room = maxAnnotationsBytes - bytesOf(others) - savedAnnotation.length;
  const text = JSON.stringify({ spec, status });
  if (text.length <= Math.min(maxPlainBytes, room) && Buffer.byteLength(text) <= Math.min(maxPlainBytes, room)) return text;
  const packed = pack(text);
  if (packed.length <= room) return packed;
  const specOnly = pack(JSON.stringify({ spec }));
  return spec !== undefined && specOnly.length <= room ? specOnly : undefined;
}

/** Reads the annotation; undefined when it holds nothing that could be a saved policy. */
export function readSaved(text: unknown): { readonly spec?: unknown; readonly status?: unknown } | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    const saved: unknown = JSON.parse(text.startsWith(packedPrefix) ? unpack(text.slice(packedPrefix.length)) : text);
    return isObject(saved) && isNestedWithin(saved, maxDepth + 1) ? saved : undefined;
  } catch {
    // Users can write anything here; without it the older shape is all there is.
    return undefined;
  }
}

function pack(text: string): string {
  return packedPrefix + deflateRawSync(text).toString('base64');
}

function unpack(text: string): string {
  return inflateRawSync(Buffer.from(text, 'base64'), { maxOutputLength: maxUnpackedBytes }).toString();
}

function bytesOf(annotations: JsonObject): number {
  return Object.entries(annotations).reduce((sum, [key, value]) => {
    return key === savedAnnotation ? sum : sum + Buffer.byteLength(key) + Buffer.byteLength(String(value));
  }, 0);
}
