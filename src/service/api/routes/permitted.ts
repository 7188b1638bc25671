import { z } from 'zod';
import { inParallel } from '../../../core/async/in-parallel.ts';
import { defined } from '../../../core/model/defined.ts';
import type { ImagePolicy } from '../../../core/model/image-policy.ts';
import type { Candidate } from '../../../core/model/image-reference.ts';
import { previousImage } from '../../explain/previous-image.ts';
import { type Access, AccessError, type Question } from '../access.ts';
import { selectedImage } from '../policy-view.ts';
import type { ApiPorts, PolicyPorts } from '../ports.ts';
import type { AnyAction } from '../request-action.ts';
import { defineRoute, policyParams } from '../route.ts';
import { policiesOf, seePolicy, whyNoActions } from '../see-policies.ts';

/** The verb that each action needs beside `patch` where the admission policy of the chart is installed. */
const ownVerbs: Readonly<Record<AnyAction, Question['verb'] | undefined>> = {
  approve: 'approve',
  reject: 'approve',
  rollback: 'rollback',
  release: 'release',
  check: undefined,
  suspend: 'update',
  resume: 'update',
};
const names = Object.keys(ownVerbs) as AnyAction[];

export const getPermitted = defineRoute({
  method: 'GET',
  path: '/policies/{namespace}/{name}/permitted',
  id: 'listPermittedActions',
  group: 'Policies',
  summary: 'Show which actions the caller may request of a policy, and what a rollback would bring back',
  about:
    'For pages that offer only what the caller may do; it says nothing about whether an action has an effect now. Needs permission to get imagepolicies in the namespace.',
  params: policyParams,
  answer: z
    .object({
      actions: z.array(z.enum(names as [AnyAction, ...AnyAction[]])),
      previous: selectedImage.exactOptional().describe('What a rollback to `previous` would bring back; absent if there is nothing.'),
    })
    .meta({ id: 'PermittedActions' }),
  errors: [404],
  async handle({ params, access, ports }) {
    const policy = await seePolicy(ports, access, params);
    const { tag, digest } = previousOf(policy, policiesOf(ports), ports.now().getTime()) ?? {};
    const actions = await permittedTo(access, policy.namespace, ports);
    return { actions, ...(tag !== undefined && { previous: { tag, ...defined({ digest }) } }) };
  },
});

/** How long the previous image of a policy is remembered: to find it among 2,000 workloads takes 0.1 s, and open pages ask again and again. */
const rememberedMs = 10_000;

interface Previous {
  readonly at: number;
  readonly image: Candidate | undefined;
}

/** The previous images of policies. A policy that changes is another object. */
const known = new WeakMap<PolicyPorts, WeakMap<ImagePolicy, Previous>>();

function previousOf(policy: ImagePolicy, policies: PolicyPorts, now: number): Candidate | undefined {
  const ofPorts = known.get(policies) ?? new WeakMap<ImagePolicy, Previous>();
  known.set(policies, ofPorts);
  const last = ofPorts.get(policy);
  if (last !== undefined && Math.abs(now - last.at) < rememberedMs) return last.image;
  const image = previousImage(policies.consider(policy), policies.cluster);
  ofPorts.set(policy, { at: now, image });
  return image;
}

async function permittedTo(access: Access, namespace: string, ports: ApiPorts): Promise<AnyAction[]> {
  if (whyNoActions(ports, access) !== undefined || !(await mayAsFarAsKnown(access, { verb: 'patch', namespace }))) return [];
  if (!policiesOf(ports).hasAdmissionPolicy) return names;
  const verbs = [...new Set(names.flatMap((name) => ownVerbs[name] ?? []))];
  const answers = await inParallel(verbs, verbs.length, (verb) => mayAsFarAsKnown(access, { verb, namespace }));
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
