import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { group } from '../../service/resources/group.ts';
import { measureJson } from '../../core/model/bounded-json.ts';
import { isNestedWithin } from './read-json.ts';
import { isObject, type JsonObject } from '../../core/model/untyped.ts';

/** The annotation of the v1alpha1 view that holds the complete v1 spec; a stored v1 object never has it. */
export const savedAnnotation = `${group}/v1`;

/** The maximum size of all annotations of an object together. The API server rejects an object with more, and with it the whole list. */
const maxAnnotationsBytes = 256 * 1024;
/** Longer texts are compressed, which leaves room for the annotations of others. */
const maxPlainBytes = 32 * 1024;
/** The maximum size of an uncompressed spec. No stored object is larger, and a small compressed text must not expand to gigabytes. */
const maxUnpackedBytes = 1_572_864;
const maxUnpackedValues = 100_000;
const maxDepth = 64;
const packedPrefix = 'deflate:';

/**
 * The text of the annotation: JSON, compressed if it is long. Undefined if there is nothing to save, or no room beside the other annotations. An edit of such a
 * view loses the fields that only v1 has, which is better than a rejected list.
 */
export function writeSaved(spec: unknown, others: JsonObject): string | undefined {
  if (spec === undefined || !isNestedWithin(spec, maxDepth)) return undefined;
  const room = maxAnnotationsBytes - bytesOf(others) - savedAnnotation.length;
  const text = JSON.stringify({ spec });
  if (text.length <= Math.min(maxPlainBytes, room) && Buffer.byteLength(text) <= Math.min(maxPlainBytes, room)) return text;
  const packed = pack(text);
  return packed.length <= room ? packed : undefined;
}

/**
 * The spec in the annotation; undefined if there is none. Anything else in it, such as a status, is ignored, because anybody who may write the object may write
 * its annotations.
 */
export function readSaved(text: unknown): unknown {
  if (typeof text !== 'string' || text.length > maxAnnotationsBytes) return undefined;
  try {
    const saved: unknown = JSON.parse(text.startsWith(packedPrefix) ? unpack(text.slice(packedPrefix.length)) : text);
    return isObject(saved) && isNestedWithin(saved['spec'], maxDepth) ? saved['spec'] : undefined;
  } catch {
    // Users can write any text. Then only the v1alpha1 view is known.
    return undefined;
  }
}

function pack(text: string): string {
  return packedPrefix + deflateRawSync(text).toString('base64');
}

function unpack(text: string): string {
  const bytes = inflateRawSync(Buffer.from(text, 'base64'), { maxOutputLength: maxUnpackedBytes });
  if (measureJson(bytes).values > maxUnpackedValues) throw new Error('no policy has that many values');
  return bytes.toString();
}

function bytesOf(annotations: JsonObject): number {
  return Object.entries(annotations).reduce((sum, [key, value]) => {
    return key === savedAnnotation ? sum : sum + Buffer.byteLength(key) + Buffer.byteLength(String(value));
  }, 0);
}
