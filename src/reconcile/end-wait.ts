import { WaitError } from '../model/errors.ts';
import { policyKey, type ImagePolicy } from '../model/image-policy.ts';
import type { PolicyJob } from '../queue/jobs.ts';
import type { FreshStatePorts } from './fresh-state.ts';

/**
 * Ports that see the wait that a delayed job is about, even where our watch lags; undefined when the policy no longer waits for that. Throws WaitError when the
 * job runs too early because clocks differ: otherwise it would complete, and the same wait makes no second one.
 */
export async function endWait<P extends FreshStatePorts>(
  wait: NonNullable<PolicyJob['wait']>,
  { namespace, name }: PolicyJob['policy'],
  ports: P,
  signal: AbortSignal,
): Promise<P | undefined> {
  const at = new Date(wait.at);
  if (ports.clock() < at) throw new WaitError('MinAge', at, 'the job ran before the wait was over');
  const isAbout = (policy: ImagePolicy | undefined) => policy?.status.waiting?.until === wait.until;
  if (isAbout(ports.findPolicy(namespace, name))) return ports;
  const read = await ports.readPolicy(namespace, name, signal);
  if (!isAbout(read)) return undefined;
  const key = policyKey({ namespace, name });
  const findPolicy: P['findPolicy'] = (...names) => {
    const cached = ports.findPolicy(...names);
    return names.join('/') !== key || isAbout(cached) ? cached : read;
  };
  return { ...ports, findPolicy };
}
