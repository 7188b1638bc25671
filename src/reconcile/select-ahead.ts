/** Selects the image of a push while Redis still stores the push. This only reads: the job of the push goes on from there, and checks what was found as usual. */
import { isUsable, type ImagePolicy, type PolicySpec } from '../model/image-policy.ts';
import type { PushJob } from '../queue/jobs.ts';
import type { Progress } from './attempt.ts';
import type { Ports } from './ports.ts';
import { withCause } from './process-policy.ts';
import { requestOf } from './process-push.ts';
import { selectOnly } from './reconcile-policy.ts';
import { mayGoBack, rejectPush } from './selection.ts';

/** The selections that this process has begun. */
export interface AheadSelections {
  /** Begins with a push that is being stored; does nothing where more than its tag would be asked for, or where enough others have begun. */
  begin(push: PushJob): void;
  /** The selection of this policy for one try of the job; undefined where the job must select. It fails as the job would, and from now on ends with its `signal`. */
  take(
    push: Pick<PushJob, 'id' | 'receivedAt'>,
    policy: Pick<ImagePolicy, 'uid' | 'spec'>,
    signal: AbortSignal,
  ): Promise<Progress | undefined> | undefined;
}

interface Begun {
  readonly uid: string;
  readonly spec: ImagePolicy['spec'];
  readonly receivedAt: string;
  readonly selected: Promise<Progress | undefined>;
  readonly controller: AbortController;
  readonly expiry: NodeJS.Timeout;
}

/** Shorter than a lock of the queue. A push that is not stored, or was stored before, holds its place for this long: so repeated deliveries cost few requests. */
const lastsMs = 3_000;
const maxBegun = 4;

export function createAheadSelections(ports: Ports): AheadSelections {
  const begun = new Map<string, Begun>();
  return {
    begin(push) {
      if (begun.size >= maxBegun || begun.has(push.id)) return;
      const [policy, another] = ports.policies.match(push.repository);
      if (policy === undefined || another !== undefined || rejectPush(policy, push) !== undefined) return;
      if (ports.policies.matchUnselected(push.repository).length > 0 || !isUsable(policy.spec) || !asksForTagAlone(policy.spec)) return;
      const controller = new AbortController();
      const expire = () => {
        begun.delete(push.id);
        controller.abort(new Error(`not used within ${lastsMs} ms`));
      };
      const expiry = setTimeout(expire, lastsMs).unref();
      const registry = withCause(ports.registry, Date.parse(push.receivedAt));
      const selected = selectOnly(requestOf(push, policy, ports), { ...ports, registry }, controller.signal);
      // It may fail before a job uses it.
      selected.catch(() => undefined);
      begun.set(push.id, { uid: policy.uid, spec: policy.spec, receivedAt: push.receivedAt, selected, controller, expiry });
    },
    take({ id, receivedAt }, { uid, spec }, signal) {
      const found = begun.get(id);
      // A policy that was deleted and created again under the same name is another policy, and a job that was waiting may be for a later push by now.
      if (found?.uid !== uid || found.receivedAt !== receivedAt) return undefined;
      // The labels of its namespace may have given it other defaults.
      if (found.spec !== spec) return undefined;
      begun.delete(id);
      clearTimeout(found.expiry);
      const stop = () => found.controller.abort(signal.reason);
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
      return found.selected.finally(() => signal.removeEventListener('abort', stop));
    },
  };
}

/** Whether only the tag itself is asked for: no list of tags, creation times, platforms, signatures or pending image. */
function asksForTagAlone(spec: PolicySpec): boolean {
  const { platforms, verification, minAgeMs, strategy } = spec;
  return !mayGoBack(spec) && [platforms, verification, minAgeMs, strategy.withCreationTimes].every((demand) => demand === undefined);
}
