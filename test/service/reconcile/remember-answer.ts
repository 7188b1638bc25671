import type { Candidate } from '../../../src/core/model/image-reference.ts';
import { runningNow } from '../../../src/service/reconcile/attempt.ts';
import { web } from '../../core/model/samples.ts';
import { contextOf, type World } from './world.ts';

/** Remembers an answer of the registry from now, for the jobs of a cause. */
export async function rememberAnswer(world: World, cause: string, answer: Candidate, at = world.ports.cluster.now()): Promise<void> {
  const { policies, cluster, registry } = world.ports;
  const running = await runningNow([...policies.all()], cluster, contextOf().signal);
  registry.sharedAnswers.remember({ cause, source: web, tag: answer.tag }, { answer, at, running });
}
