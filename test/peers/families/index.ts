/** The list of families: a new one is a line here, cases and differences. */
import type { Family } from '../family.ts';
import { credentials } from './credentials.ts';
import { keelPolls, keelPushes } from './keel.ts';
import { references } from './references.ts';
import { selection } from './selection.ts';
import { platforms, tagFilters } from './tags.ts';
import { rangeSyntax, versionOrder, versionRanges, versions } from './versions.ts';
import { webhooks } from './webhooks.ts';

export const families: readonly Family[] = [
  versionRanges,
  rangeSyntax,
  versions,
  versionOrder,
  tagFilters,
  platforms,
  selection,
  references,
  credentials,
  webhooks,
  keelPushes,
  keelPolls,
];
