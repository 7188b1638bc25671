/** Finds the companions that belong to a candidate, so that both are changed together (`plan/plan-companions.ts`). */
import { digestOfSet, type Companion, type CompanionMatch, type CompanionRule } from '../../core/model/companions.ts';
import { findListed, type ImageList } from '../../core/model/image-list.ts';
import { formatRepository, sameRepository, type Candidate } from '../../core/model/image-reference.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import { toSeconds } from '../../core/model/text.ts';
import type { SeenSet } from '../../core/plan/outcome.ts';
import { naturalOrder } from '../../core/select/select-tag.ts';
import type { Reconcile } from './attempt.ts';
import { findLack } from './examine-tag.ts';
import type { Registry } from './ports.ts';
import { formatTag, resolveCandidate } from './resolve-tag.ts';

/** How many tags of a companion are read to find the one of a commit. Those that may be it come first, then the newest by name. */
const maxRead = 20;

/** A candidate with its companions, or with what is missing; and what was seen of it, for the status. */
export interface Completed {
  readonly candidate: Candidate;
  /** Absent for a policy without companions. */
  readonly set?: SeenSet;
  /** Why it is passed over: its companions have not come in time. */
  readonly overdue?: string;
}

/** Asks the registry for the companions of a candidate. Companions that are missing are an expected result; rejects as the registry does. */
export async function completeSet(found: Candidate, reconcile: Reconcile, registry: Registry): Promise<Completed> {
  const { policy, spec, cluster, signal } = reconcile;
  const { alongside } = spec;
  if (alongside === undefined) return { candidate: found };
  const { companions: _, setDigest: __, missing: ___, ...own } = found;
  const source = registry.sourceOf(policy, spec);
  const digest = own.digest ?? (await registry.headManifest(source, own.tag, signal))?.digest;
  if (digest === undefined) throw new Error(`${formatTag(source, own.tag)} was there a moment ago`);
  const candidate = { ...own, digest };
  const revision = alongside.match === 'SameRevision' ? await registry.readRevision(source, digest, signal) : undefined;
  const list = alongside.match === 'SameDigestList' ? await registry.readImageList(source, digest, signal) : undefined;
  const search = { candidate, match: alongside.match, revision, list, reconcile, registry };
  const results = await Promise.all(alongside.images.map((rule) => findCompanion(rule, search)));
  const missing = results.flatMap((one) => ('missing' in one ? [one.missing] : []));
  const companions = results.flatMap((one) => ('missing' in one ? [] : [one]));
  const known = policy.status.incomplete?.find((one) => one.tag === own.tag && one.digest === digest);
  const now = cluster.now();
  const since = known?.since ?? toSeconds(new Date(now));
  const set = { tag: own.tag, digest, missing, since };
  if (missing.length === 0)
    return { candidate: { ...candidate, companions, setDigest: digestOfSet(spec.repository, digest, companions) }, set };
  const ends = Date.parse(since) + alongside.withinMs;
  const until = toSeconds(new Date(Math.ceil(ends / 1_000) * 1_000));
  const overdue = `${own.tag} has come without ${missing.join(' and ')}, which did not follow until ${until}`;
  return { candidate: { ...candidate, missing: { images: missing, since, until } }, set, ...(now >= ends && { overdue }) };
}

interface Search {
  readonly candidate: Candidate;
  readonly match: CompanionMatch;
  /** The commit of the candidate, where companions are found by it. */
  readonly revision: string | undefined;
  /** The list of the candidate, where companions are found by it. */
  readonly list: ImageList | undefined;
  readonly reconcile: Reconcile;
  readonly registry: Registry;
}

type Found = Companion | { readonly missing: string };

const finders: Readonly<Record<CompanionMatch, (source: ImageSource, search: Search) => Promise<Found>>> = {
  SameTag: findByTag,
  SameRevision: findByRevision,
  SameDigestList: findByList,
};

async function findCompanion({ repository }: CompanionRule, search: Search): Promise<Found> {
  const { policy, spec } = search.reconcile;
  return finders[search.match](search.registry.sourceOf(policy, { ...spec, repository }), search);
}

async function findByTag(source: ImageSource, search: Search): Promise<Found> {
  const { tag } = search.candidate;
  const digest = await resolve(source, tag, search.reconcile, search.registry);
  return digest === undefined ? { missing: formatTag(source, tag) } : toFound(source, { tag, digest }, search);
}

/** The image of a companion, unless it cannot be one. */
async function toFound(
  source: ImageSource,
  found: { readonly tag: string; readonly digest: string },
  { reconcile, registry }: Search,
): Promise<Found> {
  const why = await whyUnfit(source, found, reconcile, registry);
  return why === undefined ? { image: formatRepository(source), ...found } : { missing: `${formatTag(source, found.tag)} (${why})` };
}

/** Finds the image that the candidate lists. A tag that is written without its digest must point to the listed one. */
async function findByList(source: ImageSource, search: Search): Promise<Found> {
  const { list, reconcile, registry } = search;
  const { spec, cluster, request, signal } = reconcile;
  const listed = findListed(list, source, cluster.aliases);
  if ('missing' in listed) return listed;
  const { tag, digest } = listed;
  const { companion } = request;
  // The registry has some time to show a push that was announced, by whatever tag.
  const isPushed = isAbout(companion, source) && (companion?.tag === tag || companion?.digest === digest);
  const asked = isPushed && companion !== undefined && spec.pin === 'Digest' ? companion.tag : tag;
  const tagged = isPushed || spec.pin === 'Tag' ? await resolve(source, asked, reconcile, registry) : undefined;
  if (tagged === digest) return toFound(source, listed, search);
  const isThere = (await registry.headManifest(source, digest, signal))?.digest === digest;
  if (isThere && spec.pin === 'Digest') return toFound(source, listed, search);
  const why = isThere ? ' (its tag does not point to that digest: move it there, or write update.pin: Digest)' : '';
  return { missing: `${formatTag(source, tag)}@${digest}${why}` };
}

/** Finds the newest tag whose image was built from the commit of the candidate. */
async function findByRevision(source: ImageSource, search: Search): Promise<Found> {
  const { revision, candidate, reconcile, registry } = search;
  const { signal } = reconcile;
  const name = formatRepository(source);
  if (revision === undefined) return { missing: `${name} (${candidate.tag} does not say from which commit it was built)` };
  const tags = await likelyTags(source, search);
  for (const tag of tags.slice(0, maxRead)) {
    const digest = await resolve(source, tag, reconcile, registry);
    if (digest === undefined || (await registry.readRevision(source, digest, signal)) !== revision) continue;
    if ((await whyUnfit(source, { tag, digest }, reconcile, registry)) === undefined) return { image: name, tag, digest };
  }
  return { missing: `${name} of commit ${revision.slice(0, 12)}` };
}

/** The tags of a companion, the likely ones first: that of the candidate, the pushed one, the one that was found last, then the newest by name. */
async function likelyTags(source: ImageSource, { candidate, reconcile, registry }: Search): Promise<string[]> {
  const { policy, spec, request, signal } = reconcile;
  const pushed = isAbout(request.companion, source) ? request.companion?.tag : undefined;
  const last = policy.status.latest?.companions?.find(({ image }) => image === formatRepository(source))?.tag;
  const likely = [candidate.tag, pushed, last].filter((tag) => tag !== undefined);
  // A tag that moves is followed, and no other is searched for.
  if (spec.strategy.mutableTag !== undefined) return [...new Set(likely)];
  const listed = (await registry.listTags(source, signal)) ?? [];
  return [...new Set([...likely, ...listed.toSorted((a, b) => naturalOrder(b, a))])];
}

function isAbout(hint: Reconcile['request']['companion'], source: ImageSource): boolean {
  return hint?.repository !== undefined && sameRepository(hint.repository, source);
}

/** The digest of a tag. If this push of the companion was announced, the registry has some time to show it. */
async function resolve(
  source: ImageSource,
  tag: string,
  { request, cluster, signal }: Reconcile,
  registry: Registry,
): Promise<string | undefined> {
  const { companion, announced, announcedAt } = request;
  const isPushed = companion !== undefined && isAbout(companion, source) && companion.tag === tag;
  if (!isPushed) return (await registry.headManifest(source, tag, signal))?.digest;
  const patience = { announced, announcedAt, signal, now: cluster.now };
  return (await resolveCandidate(source, companion, registry.headManifest, patience))?.digest;
}

/** Why an image cannot be a companion: it cannot run, or lacks a platform of the policy. */
async function whyUnfit(
  source: ImageSource,
  { tag, digest }: { readonly tag: string; readonly digest: string },
  { spec, signal }: Reconcile,
  registry: Registry,
): Promise<string | undefined> {
  const { Image: why } = await registry.whyUnusable(source, digest, signal);
  return why ?? findLack(tag, digest, { spec, source, signal }, registry);
}
