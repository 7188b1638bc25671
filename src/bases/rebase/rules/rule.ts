/** The interface of the rules that may refuse a rebase. */
import type { RebaseRule } from '../../../core/model/rebase-rules.ts';
import type { PlatformContent } from '../content.ts';
import type { FileSigns } from '../file-signs.ts';
import type { Bases } from '../merge-config.ts';

/** A change of the base of an image for one platform. */
export interface BaseChange extends Bases<PlatformContent> {
  /** The tags of the bases, if they are known: those that are followed, and all that they have or had. */
  readonly tags: {
    readonly oldBase?: string | undefined;
    readonly newBase?: string | undefined;
    readonly ofOldBase?: readonly string[];
    readonly ofNewBase?: readonly string[];
  };
  readonly signatures: Signatures;
  /** What the files of the bases show; absent if they were not read. */
  readonly files?: { readonly oldBase: FileSigns; readonly newBase: FileSigns } | undefined;
}

/** Whether the application is signed, with which key, and whether the base is verified. */
export interface Signatures {
  readonly isSigned: boolean;
  /** Whether the application is signed with the key that signs the result. */
  readonly isSignedByOwnKey: boolean;
  readonly willBeSigned: boolean;
  /** Whether the signatures of the new base were verified by its digest. */
  readonly isBaseVerified: boolean;
  /** Whether the signatures of the old base were verified by its digest. */
  readonly isOldBaseVerified: boolean;
}

/** A rule that refuses a change of the base that would surprise the application. */
export interface Rule {
  /** The name of the rule in `allow`. */
  readonly id: RebaseRule;
  /** What the rule refuses, for the documentation. */
  readonly about: string;
  /** Why the image is not rebased, as a sentence without a full stop; undefined if the rule does not refuse it. */
  readonly check: (change: BaseChange) => string | undefined;
}

/** Formats a value for a message: short, and without characters that could disguise it. */
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
