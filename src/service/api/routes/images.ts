import { z } from 'zod';
import { type Each, sortInSlices } from '../../../core/async/in-parallel.ts';
import { defined } from '../../../core/model/defined.ts';
import { formatRepository, parseImageReference } from '../../../core/model/image-reference.ts';
import { repositoriesOf, versionsOf, type RunningVersion } from '../../explain/image-versions.ts';
import { placeStates, type Place, type PlaceState } from '../../explain/running-places.ts';
import { filterPlaces, hasDigest, seePlaces } from '../filter-places.ts';
import { placeView, positionOf, repositoryView, showPlace, versionView } from '../image-view.ts';
import type { ApiPorts } from '../ports.ts';
import { defineRoute, namespaceName } from '../route.ts';

const whose =
  'Of the containers of the policies that the caller may list, also of those in other namespaces that have consented to these policies. Images that no policy selects are not known.';
const isComplete = z.boolean().describe('Whether all workloads of these policies are known; false for a moment after the start.');
const filters = {
  namespace: namespaceName.exactOptional().describe('Only policies of this namespace.'),
  repository: z.string().min(1).max(512).exactOptional().describe('`harbor.example.com/shop/web`'),
  runsIn: namespaceName.exactOptional().describe('Only workloads of this namespace.'),
};
const search = z.string().min(1).max(256).exactOptional().describe('Part of the repository, tag, digest, workload or policy.');
const limitOf = (what: string) => z.coerce.number().int().min(1).max(500).default(100).describe(`The most ${what} of a page.`);
const after = (pattern: RegExp) =>
  z.string().max(1_200).regex(pattern, 'is not the "next" of an answer').exactOptional().describe('The `next` of the page before.');
const next = z.string().exactOptional().describe('For `after`; absent on the last page.');

/** The normal form of a repository that a caller has written. Throws PermanentError. */
function normalise(repository: string | undefined, { aliases }: ApiPorts): string | undefined {
  return repository === undefined ? undefined : formatRepository(parseImageReference(repository, aliases).repository);
}

export const getImages = defineRoute({
  method: 'GET',
  path: '/images',
  id: 'listImages',
  group: 'Images',
  summary: 'List where images run, and what is behind',
  about: `${whose} What is behind comes first. \`counts\` is of all that match the other filters, whatever their state.`,
  query: z.object({
    ...filters,
    tag: z.string().min(1).max(128).exactOptional().describe('Only containers that run this tag.'),
    digest: z
      .string()
      .max(140)
      .regex(/^(?:sha(?:256|512):)?[0-9a-f]{7,128}$/, 'is a digest, or at least the first 7 of its hexadecimal digits')
      .exactOptional()
      .describe('A digest, or at least the first 7 of its hexadecimal digits, with or without `sha256:`.'),
    workload: z.string().min(1).max(256).exactOptional().describe('Part of `NAMESPACE/NAME` of the workload.'),
    search,
    state: z
      .enum(placeStates, { error: `one of ${placeStates.join(', ')}` })
      .exactOptional()
      .describe('Only containers in this state.'),
    limit: limitOf('entries'),
    after: after(/^\d:\S{1,1100}$/),
  }),
  answer: z
    .object({ images: z.array(placeView), counts: z.partialRecord(z.enum(placeStates), z.int()), isComplete, next })
    .meta({ id: 'RunningImageList' }),
  async handle({ query: { namespace, repository: written, state, limit, after: from, ...rest }, access, ports }) {
    const repository = normalise(written, ports);
    const seen = await seePlaces(ports, access, { namespace, repository });
    const { each } = ports.turns;
    const counts: Partial<Record<PlaceState, number>> = {};
    const placed: { readonly place: Place; readonly position: string }[] = [];
    await each(await filterPlaces(seen.places, rest, each), (place) => {
      counts[place.state] = (counts[place.state] ?? 0) + 1;
      const position = state === undefined || place.state === state ? positionOf(place) : undefined;
      if (position !== undefined && (from === undefined || position > from)) placed.push({ place, position });
    });
    const left = await sortInSlices(placed, (a, b) => (a.position < b.position ? -1 : 1), each);
    const page = left.slice(0, limit);
    return {
      images: page.map(({ place }) => showPlace(place)),
      counts,
      isComplete: seen.isComplete,
      ...(left.length > page.length && defined({ next: page.at(-1)?.position })),
    };
  },
});

export const getRepositories = defineRoute({
  method: 'GET',
  path: '/images/repositories',
  id: 'listRepositories',
  group: 'Images',
  summary: 'List the repositories whose images run',
  about: `${whose} Those with images that are behind come first. With \`search\`, those of which a container matches, with the counts of all their containers.`,
  query: z.object({
    namespace: filters.namespace,
    runsIn: filters.runsIn,
    name: z.string().min(1).max(256).exactOptional().describe('Part of the name of the repository.'),
    search,
    limit: limitOf('repositories'),
    after: after(/^[01]:\S{1,600}$/),
  }),
  answer: z.object({ repositories: z.array(repositoryView), total: z.int(), isComplete, next }).meta({ id: 'RepositoryList' }),
  async handle({ query: { namespace, runsIn, name, search: text, limit, after: from }, access, ports }) {
    const seen = await seePlaces(ports, access, { namespace });
    const named = name?.toLowerCase();
    const { each } = ports.turns;
    const filtered = await filterPlaces(seen.places, { runsIn }, each);
    const places = filtered.filter(({ repository }) => named === undefined || repository.includes(named));
    const matching =
      text === undefined ? undefined : new Set((await filterPlaces(places, { search: text }, each)).map(({ repository }) => repository));
    const all = await repositoriesOf(matching === undefined ? places : places.filter(({ repository }) => matching.has(repository)), each);
    const placed = all.map((one) => ({ one, position: `${one.behind > 0 ? 0 : 1}:${one.repository}` }));
    const left = placed.filter(({ position }) => from === undefined || position > from);
    const page = left.slice(0, limit);
    return {
      repositories: page.map(({ one }) => one),
      total: all.length,
      isComplete: seen.isComplete,
      ...(left.length > page.length && defined({ next: page.at(-1)?.position })),
    };
  },
});

export const getVersions = defineRoute({
  method: 'GET',
  path: '/images/versions',
  id: 'listImageVersions',
  group: 'Images',
  summary: 'List the versions that run or are selected, by namespace',
  about: `${whose} By repository, the newest first.`,
  query: z.object({
    ...filters,
    version: z
      .string()
      .min(1)
      .max(700)
      .exactOptional()
      .describe('Part of the tag, the beginning of the digest, or both after the name of the repository: `web:1.4`.'),
    limit: limitOf('versions'),
  }),
  answer: z
    .object({ versions: z.array(versionView), more: z.int().describe('How many versions are not listed.'), isComplete })
    .meta({ id: 'ImageVersionList' }),
  async handle({ query: { namespace, repository: written, runsIn, version, limit }, access, ports }) {
    const seen = await seePlaces(ports, access, { namespace, repository: normalise(written, ports) });
    const { each } = ports.turns;
    const places = await filterPlaces(seen.places, { runsIn }, each);
    const found = await (version === undefined ? versionsOf(places, each) : findVersions(places, version, each));
    return { versions: found.slice(0, limit), more: Math.max(0, found.length - limit), isComplete: seen.isComplete };
  },
});

/** The versions that a text is about. Only those of repositories that have one are counted. */
async function findVersions(places: readonly Place[], version: string, each: Each): Promise<RunningVersion[]> {
  const isMeant = ({ repository, tag, digest, wants }: Place) =>
    isNamed({ repository, tag, digest }, version) || (wants !== undefined && isNamed({ repository, ...wants }, version));
  const repositories = new Set<string>();
  await each(places, (place) => {
    if (isMeant(place)) repositories.add(place.repository);
  });
  const found = await versionsOf(
    places.filter(({ repository }) => repositories.has(repository)),
    each,
  );
  return found.filter((one) => isNamed(one, version));
}

interface Named {
  readonly repository: string;
  readonly tag?: string | undefined;
  readonly digest?: string | undefined;
}

/** Whether a text is about the version, not about its repository alone. */
function isNamed({ repository, tag = '', digest = '' }: Named, version: string): boolean {
  if (tag.includes(version) || (version.length >= 7 && hasDigest({ digest }, version))) return true;
  if (repository.includes(version) || !version.includes(repository.slice(repository.lastIndexOf('/') + 1))) return false;
  return [`${repository}:${tag}`, `${repository}:${tag}@${digest}`, `${repository}@${digest}`].some((whole) => whole.includes(version));
}
