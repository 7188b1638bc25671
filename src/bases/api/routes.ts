/** The routes that the wing adds to the API. */
import { z } from 'zod';
import { baseReads, type BaseSummary, dependentStates, type DependentState } from '../../service/api/base-view.ts';
import { AccessError } from '../../service/api/access.ts';
import { policyStates, type PolicyState } from '../../core/model/policy-state.ts';
import { definePermittedIn } from '../../service/api/permitted-actions.ts';
import { defineRoute, namespaceName, policyParams, type Route } from '../../service/api/route.ts';
import { filterOf, streamQuery } from '../../service/api/stream-query.ts';
import { seePolicy } from '../../service/api/see-policies.ts';
import { policyKey } from '../../core/model/image-policy.ts';
import { defined } from '../../core/model/defined.ts';
import { basePlural, recordPlural } from '../../service/resources/group.ts';
import { createBaseActions } from './actions.ts';
import { findChain } from './chain.ts';
import { type Listed, placeOf } from './list-dependents.ts';
import { listVersions, placeOf as placeOfVersion } from './list-versions.ts';
import { createReadDependents, type ReadDependents } from './read-dependents.ts';
import { detail, stateOf, summarize } from './summary.ts';
import { type BaseView, countWithoutConsent, known, listBases, seeBase, versionsOf } from './view.ts';

const limit = (what: string) => z.coerce.number().int().min(1).max(500).default(100).describe(`The most ${what} of a page.`);
const after = (pattern: RegExp) =>
  z.string().max(1_200).regex(pattern, 'is not the "next" of an answer').exactOptional().describe('The `next` of the page before.');
const needsGet = `Needs permission to get ${basePlural} in the namespace.`;

/** Creates the routes. Without `view`, as in a process without the role `work`, they answer 503. */
export function createBaseRoutes(view: BaseView | undefined): Route[] {
  const read: ReadDependents = view === undefined ? () => Promise.reject(new Error('there are no bases')) : createReadDependents(view);
  return [
    getBases(view),
    getBase(view),
    getDependents(view, read),
    getVersions(view, read),
    getChain(view, read),
    streamBases(view),
    getPermittedInBases,
    ...createBaseActions(view),
  ];
}

const getPermittedInBases = definePermittedIn({
  path: baseReads.permitted.path,
  id: 'listPermittedInBases',
  group: 'Bases',
  what: 'BaseImagePolicies',
  resource: basePlural,
});

const getBases = (view: BaseView | undefined) =>
  defineRoute({
    method: 'GET',
    ...baseReads.list,
    id: 'listBases',
    group: 'Bases',
    summary: 'List the policies of bases',
    about: `Shows the BaseImagePolicies that the caller may list. \`counts\` is of all that match the other filters, whatever their state.`,
    query: z.object({
      namespace: namespaceName.exactOptional().describe('Only what is of this namespace.'),
      state: z
        .enum(policyStates, { error: `one of ${policyStates.join(', ')}` })
        .exactOptional()
        .describe('Only policies in this state.'),
      search: z.string().min(1).max(256).exactOptional().describe('Part of the namespace, name, image or selected tag.'),
      limit: limit('policies'),
      after: after(/^[a-z0-9-]{1,63}\/[a-z0-9.-]{1,253}$/),
    }),
    async handle({ query: { namespace, state, search, limit: most, after: from }, access }) {
      const all = (await listBases(view, access, namespace)).map((policy) => ({ policy, state: stateOf(policy) }));
      const text = search?.toLowerCase();
      const found = text === undefined ? all : all.filter(({ policy }) => mentions(summarize(policy), text));
      const counts = countBy<PolicyState>(found.map((one) => one.state));
      const wanted = found.filter(
        (one) => (state === undefined || one.state === state) && (from === undefined || policyKey(one.policy) > from),
      );
      const page = wanted.slice(0, most);
      const last = page.at(-1);
      const next = wanted.length > page.length && last !== undefined ? policyKey(last.policy) : undefined;
      return { bases: page.map(({ policy }) => summarize(policy, known(view).originsOf(policy))), counts, ...defined({ next }) };
    },
  });

function mentions({ namespace, name, image = '', latest }: BaseSummary, text: string): boolean {
  return [`${namespace}/${name}`, image, latest?.tag ?? ''].some((part) => part.toLowerCase().includes(text));
}

const getBase = (view: BaseView | undefined) =>
  defineRoute({
    method: 'GET',
    ...baseReads.one,
    id: 'getBase',
    group: 'Bases',
    summary: 'Show the policy of one base',
    about: needsGet,
    params: policyParams,
    errors: [404],
    async handle({ params, access }) {
      const policy = await seeBase(view, access, params);
      const withoutConsent = await countWithoutConsent(policy, known(view), access);
      return { ...detail(policy, known(view).originsOf(policy)), ...defined({ withoutConsent }) };
    },
  });

const getDependents = (view: BaseView | undefined, read: ReadDependents) =>
  defineRoute({
    method: 'GET',
    ...baseReads.dependents,
    id: 'listDependents',
    group: 'Bases',
    summary: 'List the images that are built on a base',
    about: `Those that need attention come first, each with what can be done about it. ${needsGet}`,
    params: policyParams,
    query: z.object({
      state: z
        .enum(dependentStates, { error: `one of ${dependentStates.join(', ')}` })
        .exactOptional()
        .describe('Only images in this state.'),
      runsIn: namespaceName.exactOptional().describe('Only images that run in this namespace.'),
      search: z.string().min(1).max(256).exactOptional().describe('Part of the name of the image.'),
      limit: limit('images'),
      after: after(/^\d{1,2}:\S{1,1100}$/),
    }),
    errors: [404],
    async handle({ params, query: { state, runsIn, search, limit: most, after: from }, access }) {
      const { dependents, isComplete } = await read(await seeBase(view, access, params));
      const text = search?.toLowerCase();
      const found = dependents.filter(
        (one) =>
          (runsIn === undefined || one.namespaces.has(runsIn)) && (text === undefined || one.view.image.toLowerCase().includes(text)),
      );
      const counts = countBy<DependentState>(found.map((one) => one.view.state));
      const wanted = found.filter((one) => (state === undefined || one.view.state === state) && isAfter(one, from));
      const page = wanted.slice(0, most);
      const last = page.at(-1);
      const place = wanted.length > page.length && last !== undefined ? placeOf(last) : undefined;
      return {
        dependents: page.map((one) => one.view),
        counts,
        isComplete,
        ...(place !== undefined && { next: `${place.rank}:${place.image}` }),
      };
    },
  });

/** Whether a dependent comes after a place: RANK:IMAGE. */
function isAfter(one: Listed, from: string | undefined): boolean {
  if (from === undefined) return true;
  const [rank = '0', image = ''] = from.split(/:(.*)/s);
  const own = placeOf(one);
  return own.rank > Number(rank) || (own.rank === Number(rank) && own.image > image);
}

const getVersions = (view: BaseView | undefined, read: ReadDependents) =>
  defineRoute({
    method: 'GET',
    ...baseReads.versions,
    id: 'listBaseVersions',
    group: 'Bases',
    summary: 'List the versions of a base that were seen',
    about: `The latest first. ${needsGet} Because BaseImageRecords contain the versions, it also needs permission to list ${recordPlural} there.`,
    params: policyParams,
    query: z.object({ limit: limit('versions'), after: after(/^[0-9TZ:.-]{1,64} [a-z0-9:]{1,160}$/) }),
    errors: [404],
    async handle({ params, query: { limit: most, after: from }, access }) {
      const policy = await seeBase(view, access, params);
      if (!(await access.may({ verb: 'list', resource: recordPlural, namespace: params.namespace })))
        throw new AccessError(403, `this needs permission to list ${recordPlural} in the namespace ${params.namespace}`);
      const [versions, { dependents }] = await Promise.all([versionsOf(policy, known(view)), read(policy)]);
      const wanted = listVersions(policy, versions, dependents).filter((one) => from === undefined || placeOfVersion(one) < from);
      const page = wanted.slice(0, most);
      const last = page.at(-1);
      const next = wanted.length > page.length && last !== undefined ? placeOfVersion(last) : undefined;
      return { versions: page, total: versions.length, ...defined({ next }) };
    },
  });

const getChain = (view: BaseView | undefined, read: ReadDependents) =>
  defineRoute({
    method: 'GET',
    ...baseReads.chain,
    id: 'listBasesOfPolicy',
    group: 'Bases',
    summary: 'Show the bases that the images of an ImagePolicy are built on',
    about: `Needs permission to get imagepolicies in the namespace; shows the bases whose BaseImagePolicies the caller may get.`,
    params: policyParams,
    errors: [404],
    async handle({ params, access, ports }) {
      const policy = await seePolicy(ports, access, params);
      return { bases: await findChain(policy, { view: known(view), access, read }) };
    },
  });

const streamBases = (view: BaseView | undefined) =>
  defineRoute({
    method: 'GET',
    path: '/bases/stream',
    id: 'streamBases',
    group: 'Bases',
    summary: 'Follow the changes of the policies of bases',
    about: 'As /stream, with the event `base` for an entry of the list. Shows what the caller may get.',
    query: streamQuery,
    answer: z.unknown(),
    media: 'text/event-stream',
    handle: ({ query, access, ports }) => {
      const { feed } = known(view);
      return Promise.resolve(
        ports.streams.open({ feed, resource: basePlural, event: 'base', show: (policy) => summarize(policy) }, access, filterOf(query)),
      );
    },
  });

function countBy<S extends string>(states: readonly S[]): Partial<Record<S, number>> {
  const counts: Partial<Record<S, number>> = {};
  for (const state of states) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}
