/** Which actions a caller may request, so that pages offer nothing else. */
import { z } from 'zod';
import { inParallel } from '../../core/async/in-parallel.ts';
import { defined } from '../../core/model/defined.ts';
import { type Access, AccessError, type Question } from './access.ts';
import type { ApiPorts } from './ports.ts';
import type { AnyAction } from './request-action.ts';
import { defineRoute, namespaceName, type RouteGroup, type RouteOf } from './route.ts';
import { policiesOf, whyNoActions } from './see-policies.ts';

/** The verb that each action needs beside `patch` where the admission policy of the chart is installed. */
const ownVerbs: Readonly<Record<AnyAction, Question['verb'] | undefined>> = {
  approve: 'approve',
  reject: 'approve',
  rollback: 'rollback',
  release: 'release',
  promote: 'approve',
  hold: 'release',
  check: undefined,
  suspend: 'update',
  resume: 'update',
};
const names = Object.keys(ownVerbs) as AnyAction[];
export const permittedAction = z.enum(names as [AnyAction, ...AnyAction[]]);

/** The actions that BaseImagePolicies do not have. */
const ofImagePolicies: ReadonlySet<AnyAction> = new Set(['rollback', 'promote', 'hold']);

/** The most namespaces of one answer. Each may cost some questions to the API server, whose answers are kept for some seconds. */
export const maxPermittedNamespaces = 50;
const namespacesAtOnce = 8;

/** What a caller may request in some namespaces. */
export const permittedIn = z
  .object({
    namespaces: z.array(z.object({ namespace: namespaceName, actions: z.array(permittedAction) }).meta({ id: 'PermittedInNamespace' })),
  })
  .meta({ id: 'PermittedActionList' });

interface PermittedIn {
  readonly path: string;
  readonly id: string;
  readonly group: RouteGroup;
  /** The kind, in the plural, for people. */
  readonly what: string;
  /** The resource of a kind that has no rollback; ImagePolicies unless given. */
  readonly resource?: string;
}

/** The route that says which actions a caller may request of the policies of some namespaces. */
export function definePermittedIn({ path, id, group, what, resource }: PermittedIn): RouteOf<typeof permittedIn> {
  return defineRoute({
    method: 'GET',
    path,
    id,
    group,
    summary: `Show which actions the caller may request of the ${what} of some namespaces`,
    about:
      'For pages with many policies. It says nothing about whether there are any, or whether an action has an effect now. Everybody may ask about himself.',
    query: z.object({
      namespaces: z
        .string()
        .max(maxPermittedNamespaces * 64)
        .transform((text) => [...new Set(text.split(','))])
        .pipe(z.array(namespaceName).max(maxPermittedNamespaces, { error: `names at most ${maxPermittedNamespaces} namespaces` }))
        .describe(`Up to ${maxPermittedNamespaces}, separated by commas.`),
    }),
    answer: permittedIn,
    async handle({ query: { namespaces }, access, ports }) {
      const answers = await inParallel(namespaces, namespacesAtOnce, async (namespace) => {
        const actions = await permittedTo(access, { namespace, ...defined({ resource }) }, ports);
        return { namespace, actions: resource === undefined ? actions : actions.filter((name) => !ofImagePolicies.has(name)) };
      });
      return {
        namespaces: answers.map((answer) => {
          if (answer.status === 'rejected') throw answer.reason;
          return answer.value;
        }),
      };
    },
  });
}

/** The actions that a caller may request in a namespace. */
export async function permittedTo(access: Access, where: Omit<Question, 'verb'>, ports: ApiPorts): Promise<AnyAction[]> {
  if (whyNoActions(ports, access) !== undefined || !(await mayAsFarAsKnown(access, { verb: 'patch', ...where }))) return [];
  if (!policiesOf(ports).hasAdmissionPolicy) return names;
  const verbs = [...new Set(names.flatMap((name) => ownVerbs[name] ?? []))];
  const answers = await inParallel(verbs, verbs.length, (verb) => mayAsFarAsKnown(access, { verb, ...where }));
  const refused = new Set(verbs.filter((_, index) => answers[index]?.status !== 'fulfilled' || !answers[index].value));
  return names.filter((name) => ownVerbs[name] === undefined || !refused.has(ownVerbs[name]));
}

/** A permission that cannot be asked for now is assumed: the API server decides when the action is requested. */
async function mayAsFarAsKnown(access: Access, question: Question): Promise<boolean> {
  try {
    return await access.may(question);
  } catch (error) {
    if (error instanceof AccessError) return true;
    throw error;
  }
}
