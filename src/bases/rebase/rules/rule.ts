/** What a rule is. */
import type { RebaseRule } from '../../../core/model/rebase-rules.ts';
import type { PlatformContent } from '../content.ts';
import type { Bases } from '../merge-config.ts';

/** A new base for an image of one platform. */
export interface BaseChange extends Bases<PlatformContent> {
  /** The tags of the bases, if they are known. */
  readonly tags: { readonly oldBase?: string | undefined; readonly newBase?: string | undefined };
  readonly signatures: Signatures;
}

/** Who has signed the application, who signs the result, and whether it is known who has signed the base. */
export interface Signatures {
  readonly isSigned: boolean;
  /** With the key that signs the result. */
  readonly isSignedByOwnKey: boolean;
  readonly willBeSigned: boolean;
  /** Whether the signatures of the new base were verified, by its digest. */
  readonly isBaseVerified: boolean;
}

/** A change of the base that would surprise the application. */
export interface Rule {
  /** The name in `allow`. */
  readonly id: RebaseRule;
  /** What it refuses, for the documentation. */
  readonly about: string;
  /** Why the image is not rebased, as a sentence without an end; undefined if nothing speaks against it. */
  readonly check: (change: BaseChange) => string | undefined;
}

/** A value for a message: short, and without characters that could disguise it. */
export function shown(value: unknown): string {
  const text =
    typeof value === 'string'
      ? value
      : Array.isArray(value)
        ? value.join(' ')
        : value === undefined || value === null
          ? ''
          : JSON.stringify(value);
  const clean = text.replaceAll(/[^\x20-\x7e]+/g, '?');
  if (clean === '') return 'nothing';
  return `"${clean.length > 80 ? `${clean.slice(0, 80)}…` : clean}"`;
}
