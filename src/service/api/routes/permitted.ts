import { z } from 'zod';
import { defined } from '../../../core/model/defined.ts';
import type { ImagePolicy } from '../../../core/model/image-policy.ts';
import type { Candidate } from '../../../core/model/image-reference.ts';
import { previousImage } from '../../explain/previous-image.ts';
import { definePermittedIn, permittedAction, permittedTo } from '../permitted-actions.ts';
import { selectedImage } from '../policy-view.ts';
import type { PolicyPorts } from '../ports.ts';
import { defineRoute, policyParams } from '../route.ts';
import { policiesOf, seePolicy } from '../see-policies.ts';

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
      actions: z.array(permittedAction),
      previous: selectedImage.exactOptional().describe('What a rollback to `previous` would bring back; absent if there is nothing.'),
    })
    .meta({ id: 'PermittedActions' }),
  errors: [404],
  async handle({ params, access, ports }) {
    const policy = await seePolicy(ports, access, params);
    const { tag, digest } = previousOf(policy, policiesOf(ports), ports.now().getTime()) ?? {};
    const actions = await permittedTo(access, { namespace: policy.namespace }, ports);
    return { actions, ...(tag !== undefined && { previous: { tag, ...defined({ digest }) } }) };
  },
});

/** The route that answers for the policies of some namespaces what the caller may do. */
export const getPermittedIn = definePermittedIn({
  path: '/policies/permitted',
  id: 'listPermittedIn',
  group: 'Policies',
  what: 'ImagePolicies',
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
