import { WaitError } from '../model/errors.ts';
import { policyKey, type ImagePolicy } from '../model/image-policy.ts';
import type { PolicyJob } from '../queue/jobs.ts';
import type { FreshStatePorts } from './fresh-state.ts';

/**
 * Ports that see the wait that an alarm is about, also where our watch is behind; undefined when nothing waits for it any more. Throws WaitError when it
 * rings too early, because clocks differ: the job would be over, and the same wait makes no second one.
 */
export async function answerAlarm<P extends FreshStatePorts>(
  alarm: NonNullable<PolicyJob['alarm']>,
  { namespace, name }: PolicyJob['policy'],
  ports: P,
  signal: AbortSignal,
): Promise<P | undefined> {
  const at = new Date(alarm.at);
  if (ports.clock() < at) throw new WaitError('MinAge', at, 'the alarm rang too early');
  const isAbout = (policy: ImagePolicy | undefined) => policy?.status.waiting?.until === alarm.until;
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
