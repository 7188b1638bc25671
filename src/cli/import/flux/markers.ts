import { fieldsOf, parseJson } from '../../../core/model/untyped.ts';
import type { SourceObject } from '../importer.ts';

type Keys = readonly (string | number)[];

/** The part of the selected image that Flux writes into a field. */
export type MarkedPart = 'image' | 'name' | 'tag' | 'digest';

/** A field that Flux writes: `image: web:1.4.2 # {"$imagepolicy": "flux-system:web"}`. */
export interface Marker {
  /** The policy of Flux: `flux-system/web`. */
  readonly policyKey: string;
  readonly part: MarkedPart;
  readonly keys: Keys;
}

const parts: readonly string[] = ['image', 'name', 'tag', 'digest'];

function isPart(text: string): text is MarkedPart {
  return parts.includes(text);
}

/** The fields of an object that Flux writes. As in Flux, a comment that only resembles a marker is ignored. */
export function readMarkers({ comments }: SourceObject): Marker[] {
  return comments.flatMap(({ keys, text }) => {
    const setter = setterIn(text);
    if (setter === undefined) return [];
    const [namespace = '', name = '', part = 'image', ...more] = setter.split(':');
    if (namespace === '' || name === '' || more.length > 0 || !isPart(part)) return [];
    return [{ policyKey: `${namespace}/${name}`, part, keys }];
  });
}

function setterIn(text: string): string | undefined {
  if (!text.includes('$imagepolicy')) return undefined;
  const setter = fieldsOf(parseJson(text))['$imagepolicy'];
  return typeof setter === 'string' ? setter : undefined;
}
