/** The list of families: a new one is a line here, cases and differences. */
import type { Family } from '../family.ts';
import { credentials } from './credentials.ts';
import { aiuSelections, fluxFilters, fluxRanges, fluxSelections } from './imports.ts';
import { keelPolls, keelPushes } from './keel.ts';
import { references } from './references.ts';
import { challenges, creationTimes, referrers, tagLists } from './registry.ts';
import { selection } from './selection.ts';
import { platforms, tagFilters } from './tags.ts';
import { addresses, tokens } from './tokens.ts';
import { rangeSyntax, versionOrder, versionRanges, versions } from './versions.ts';
import { webhooks, webhookSecrets } from './webhooks.ts';

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
  challenges,
  tokens,
  addresses,
  tagLists,
  referrers,
  creationTimes,
  webhooks,
  webhookSecrets,
  keelPushes,
  keelPolls,
  fluxRanges,
  fluxSelections,
  fluxFilters,
  aiuSelections,
];
