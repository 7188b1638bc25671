import { defined } from '../../../core/model/defined.ts';
import { tryParseImageReference, formatRepository, type RegistryAliases } from '../../../core/model/image-reference.ts';
import type { NamedBase } from '../facts.ts';

/** Annotations or labels. */
export type Texts = Readonly<Record<string, string>>;

/** The documents about one platform of an image that may name a base. */
export interface BuildRecords {
  /** The annotations of the manifest, of its entry in the index, and of the index, in this order. */
  readonly annotations: readonly Texts[];
  /** The labels of the configuration. Images inherit the labels of their base. */
  readonly labels: Texts;
  /** The statements of attestations, parsed from JSON. */
  readonly statements: readonly unknown[];
  readonly aliases: RegistryAliases;
}

/** One kind of evidence of the base of an image. */
export interface Evidence {
  readonly id: NamedBase['by'];
  /** The bases that the records name, except those that this kind of evidence cannot identify. Never throws, although the records are untrusted. */
  readonly find: (records: BuildRecords) => readonly NamedBase[];
}

/** The repository, tag and digest of `name:tag@digest`; undefined if the text is not an image reference. */
export function readReference(text: string | undefined, aliases: RegistryAliases): Omit<NamedBase, 'by'> | undefined {
  const parsed = text === undefined ? undefined : tryParseImageReference(text, aliases);
  if (parsed === undefined) return undefined;
  const { repository, tag, digest } = parsed;
  return { repository: formatRepository(repository), ...defined({ tag, digest }) };
}
