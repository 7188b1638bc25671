/** The search over everything: what of each kind matches a text, read from the API with the rights of the user. */
import { defined } from '../core/model/defined.ts';
import { baseReads, type BaseSummary } from '../service/api/base-view.ts';
import type { PlaceView, RepositoryView, VersionView } from '../service/api/image-view.ts';
import type { PolicySummary } from '../service/api/policy-view.ts';
import { getEvent, getEvents } from '../service/api/routes/events.ts';
import { getImages, getRepositories, getVersions } from '../service/api/routes/images.ts';
import { getPolicies } from '../service/api/routes/policies.ts';
import { type Api, ApiFailure } from './api-client.ts';
import type { PageCall } from './page.ts';
import { basePath, policyPath } from './parts/inline.ts';
import { imagePath, placesPath } from './parts/place-query.ts';
import { pushPath } from './parts/push.ts';

/** How many hits of each kind are shown. */
const maxHits = 10;
const oneMore = maxHits + 1;

interface Answers {
  readonly policies: readonly PolicySummary[];
  readonly repositories: readonly RepositoryView[];
  readonly versions: readonly VersionView[];
  readonly workloads: readonly PlaceView[];
  readonly bases: readonly BaseSummary[];
  readonly events: readonly Awaited<ReturnType<typeof readEvents>>[number][];
}

/** The hits of one kind. `more`: whether others match as well. */
export interface Hits<T> {
  readonly hits: readonly T[];
  readonly more: boolean;
}

export interface Found {
  readonly found: { readonly [Kind in keyof Answers]: Hits<Answers[Kind][number]> };
  /** Why a kind could not be searched, if one could not. */
  readonly failure?: string;
}

/** Finds what matches the text. What the user may not see, or what cannot be read now, is left out. */
export async function find(text: string, { api, caller }: Pick<PageCall, 'api' | 'caller'>): Promise<Found> {
  const failures: string[] = [];
  const read = async <T>(reading: Promise<readonly T[]>): Promise<Hits<T>> => {
    try {
      const all = await reading;
      return { hits: all.slice(0, maxHits), more: all.length > maxHits };
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.status === 401) throw error;
      failures.push(error.message);
      return { hits: [], more: false };
    }
  };
  const hasBases = caller.features?.includes('bases') === true;
  const [policies, repositories, versions, workloads, bases, events] = await Promise.all([
    read(api.read(getPolicies, { search: text, limit: oneMore }).then((answer) => answer.policies)),
    read(api.read(getRepositories, { name: text, limit: oneMore }).then((answer) => answer.repositories)),
    read(api.read(getVersions, { version: text, limit: oneMore }).then((answer) => answer.versions)),
    read(api.read(getImages, { workload: text, limit: 100 }).then((answer) => firstOfEach(answer.images))),
    read(hasBases ? api.read(baseReads.list, { search: text, limit: oneMore }).then((answer) => answer.bases) : Promise.resolve([])),
    read(readEvents(text, api)),
  ]);
  const [failure] = failures;
  return { found: { policies, repositories, versions, workloads, bases, events }, ...defined({ failure }) };
}

/** One container of each workload. */
function firstOfEach(images: readonly PlaceView[]): readonly PlaceView[] {
  const byWorkload = Map.groupBy(images, ({ kind, namespace, name }) => `${kind} ${namespace}/${name}`);
  return [...byWorkload.values()].flatMap(([first]) => first ?? []);
}

/** The pushes of a digest, alone or at the end of an image, or the push with this id. */
async function readEvents(text: string, api: Api) {
  const [, hex] = /(?:^|sha256:)([0-9a-f]{64})$/.exec(text) ?? [];
  if (hex !== undefined) return (await api.read(getEvents, { digest: `sha256:${hex}`, limit: oneMore })).events;
  if (!/^[0-9a-zA-Z_-]{16,128}$/.test(text)) return [];
  try {
    return [await api.read(getEvent, { id: text })];
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 404) return [];
    throw error;
  }
}

/** The page of the only hit that the text names exactly; undefined if there is none, or several. Pure. */
export function exactPage(text: string, { found }: Found): string | undefined {
  const named = ({ namespace, name }: { readonly namespace: string; readonly name: string }) =>
    [`${namespace}/${name}`, name].includes(text);
  const pages = [
    ...found.policies.hits.filter(named).map(policyPath),
    ...found.bases.hits.filter(named).map(basePath),
    ...found.workloads.hits.filter(named).map(workloadPath),
    ...found.repositories.hits.filter(({ repository }) => repository === text).map(({ repository }) => imagePath({ repository })),
    ...found.events.hits.filter(({ id }) => id === text).map(({ id }) => pushPath(id)),
    ...found.versions.hits.filter((version) => namesOf(version).includes(text)).map((version) => versionPath(version, text)),
  ];
  const [page, ...others] = new Set(pages);
  return others.length === 0 ? page : undefined;
}

function namesOf({ repository, tag = '', digest = '' }: VersionView): string[] {
  const image = tag === '' ? repository : `${repository}:${tag}`;
  return [tag, image, digest, digest.slice(digest.indexOf(':') + 1), `${image}@${digest}`, `${repository}@${digest}`].filter(
    (name) => name !== '',
  );
}

/** Where a version runs: by its digest, if that is what was asked for. */
export function versionPath({ repository, tag, digest }: VersionView, text: string): string {
  const isDigest = digest !== undefined && !text.includes('/') && digest.includes(text) && tag !== text;
  if (isDigest) return placesPath('/places', { digest });
  return imagePath({ repository, tag, ...(tag === undefined && { digest }) });
}

/** The containers of a workload. */
export function workloadPath({ namespace, name }: Pick<PlaceView, 'namespace' | 'name'>): string {
  return placesPath('/places', { workload: `${namespace}/${name}`, runsIn: namespace });
}
