import { isDigest } from '../../../core/model/image-reference.ts';
import type { NamedBase } from '../facts.ts';
import { type BuildRecords, type Evidence, readReference, type Texts } from './evidence.ts';

const name = 'org.opencontainers.image.base.name';
const digest = 'org.opencontainers.image.base.digest';

/**
 * Finds the base in the annotations of the OCI: on manifest, entry or index, or as labels of the configuration. Name and digest are read from the same place,
 * because labels may be inherited from the base. https://github.com/opencontainers/image-spec/blob/main/annotations.md
 */
export const annotation: Evidence = {
  id: 'Annotation',
  find: ({ annotations, labels, aliases }) => [...annotations, labels].flatMap((texts) => readTexts(texts, aliases)),
};

function readTexts(texts: Texts, aliases: BuildRecords['aliases']): NamedBase[] {
  const named = readReference(texts[name], aliases);
  const given = texts[digest]?.trim();
  const base = { ...named, ...(given !== undefined && isDigest(given) && { digest: given }) };
  return base.repository === undefined && base.digest === undefined ? [] : [{ by: 'Annotation', ...base }];
}
