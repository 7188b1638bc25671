/** The versions of a base over time, the newest first, with the images that are built on each. Pure. */
import { defined } from '../../core/model/defined.ts';
import type { z } from 'zod';
import type { Immutable } from '../../core/model/immutable.ts';
import type { BaseImagePolicy } from '../../core/model/base-policy.ts';
import type { baseReads } from '../../service/api/base-view.ts';
import type { SeenVersion } from '../record/seen-version.ts';
import type { Listed } from './list-dependents.ts';

type VersionView = Immutable<z.input<typeof baseReads.versions.answer>>['versions'][number];

/** Lists the versions in the order in which they were first seen, the latest first. */
export function listVersions(
  { status: { latest, rejected = [] } }: BaseImagePolicy,
  versions: readonly SeenVersion[],
  dependents: readonly Listed[],
): VersionView[] {
  const images = new Map<string, number>();
  for (const { view } of dependents) {
    const digest = digestOf(view);
    if (digest !== undefined) images.set(digest, (images.get(digest) ?? 0) + 1);
  }
  const failed = new Map(rejected.map(({ digest, message }) => [digest, message]));
  const listed = versions.map(({ digest, tags, seenAt, selected }): VersionView => {
    const why = failed.get(digest);
    return {
      digest,
      tags,
      seenAt,
      isLatest: digest === latest?.digest,
      wasSelected: selected === true || digest === latest?.digest,
      ...defined({ rejected: why }),
      images: images.get(digest) ?? 0,
    };
  });
  return listed.toSorted((a, b) => (placeOf(a) > placeOf(b) ? -1 : 1));
}

/** The place of a version in the list, which begins with the greatest. */
export function placeOf({ seenAt, digest }: Pick<VersionView, 'seenAt' | 'digest'>): string {
  return `${seenAt} ${digest}`;
}

/** The digest of the base that an image is built on: of `21.0.2@sha256:…`, or of the digest alone. */
export function digestOf({ base }: { readonly base?: string | undefined }): string | undefined {
  return base?.split('@').at(-1);
}
