import { tryParseImageReference, formatRepository, type RegistryAliases } from '../../../core/model/image-reference.ts';
import type { NamedBase } from '../facts.ts';

/** Annotations or labels. */
export type Texts = Readonly<Record<string, string>>;

/** Everything about one platform of an image in which a base may be named. */
export interface BuildRecords {
  /** The annotations of the manifest, of its entry in the index, and of the index: the nearest first. */
  readonly annotations: readonly Texts[];
  /** The labels of the configuration. Images inherit those of their base. */
  readonly labels: Texts;
  /** The statements of attestations, parsed from JSON. */
  readonly statements: readonly unknown[];
  readonly aliases: RegistryAliases;
}

/** One kind of evidence of the base of an image. */
export interface Evidence {
  readonly id: NamedBase['by'];
  /** The bases that the records name, without those that this kind of evidence cannot identify. Never throws: the author of the image chose every byte. */
  readonly find: (records: BuildRecords) => readonly NamedBase[];
}

/** The repository, tag and digest of `name:tag@digest`; undefined if the text is not an image reference. */
export function readReference(text: string | undefined, aliases: RegistryAliases): Omit<NamedBase, 'by'> | undefined {
  const parsed = text === undefined ? undefined : tryParseImageReference(text, aliases);
  if (parsed === undefined) return undefined;
  const { repository, tag, digest } = parsed;
  return { repository: formatRepository(repository), ...(tag !== undefined && { tag }), ...(digest !== undefined && { digest }) };
}
