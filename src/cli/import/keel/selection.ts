import type { Spec } from '../../../api-versions/v1.ts';
import type { KeelSettings } from './settings.ts';
import { convertForce, convertGlob, convertNewest, convertRegexp } from './tag-selection.ts';
import { convertVersions } from './version-selection.ts';

/** How a policy chooses the tag, and what is other than with Keel. */
export interface Selection {
  readonly select: Spec['select'];
  readonly tags?: NonNullable<Spec['tags']>;
  /** Where a tag that is pushed again is to be applied as well. */
  readonly pin?: 'Digest';
  readonly notes: readonly string[];
}

/** Why there is no selection that does what Keel did. */
export interface NoSelection {
  readonly problem: string;
}

/** What `keel.sh/policy` means for a workload that runs this tag. */
export function convertSelection(settings: KeelSettings, runningTag: string): Selection | NoSelection {
  const { policy } = settings;
  const colon = policy.indexOf(':');
  const pattern = policy.slice(colon + 1);
  switch (colon === -1 ? policy : policy.slice(0, colon + 1)) {
    case 'all':
    case 'major':
    case 'minor':
    case 'patch':
      return convertVersions(policy, settings.matchPreRelease, runningTag);
    case 'force':
      return convertForce(settings.matchTag, runningTag);
    case 'glob:':
      return convertGlob(pattern);
    case 'regexp:':
      return convertRegexp(pattern, settings.polls);
    case 'newest:':
      return convertNewest(pattern);
    default:
      return { problem: `Keel has no policy "${policy}", and leaves the workload alone` };
  }
}
