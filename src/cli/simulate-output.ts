import { defined } from '../core/model/defined.ts';
import { formatRepository } from '../core/model/image-reference.ts';
import type { IgnoredPush } from '../core/model/push-event.ts';
import { printable } from '../service/command-line/printable.ts';
import { reasonLinks } from './reason-links.ts';
import type { AcceptedPush, SimulatedReceiver, Simulation } from '../service/receive/read-delivery.ts';

/** Whether the request would be authenticated. `by URL only`: the secret is the end of the URL, and the sender proves nothing else. */
export type Authenticated = 'yes' | 'no' | 'by URL only' | 'not tried';

const decisions: Record<Simulation['decision'], string> = {
  accept: 'stored, and answered 202',
  ignore: 'nothing to do, answered 200 with the reasons',
  malformed: 'not understood, answered 200, counted and logged',
  handshake: 'answered 200 as the sender requires',
  refuse: 'refused, answered 413',
};
const proofs: Record<Authenticated, string> = {
  yes: 'yes, with the given secret',
  no: 'no: with the given secret it would be answered 401',
  'by URL only': 'nothing in the request proves who sent it: the secret must be the end of the URL, /webhooks/NAME/SECRET',
  'not tried': 'not tried: name a secret with --secret-env',
};

/** The result of a simulation as data for programs. */
export function toJson(
  receiver: SimulatedReceiver,
  simulation: Simulation,
  authenticated: Authenticated,
): Readonly<Record<string, unknown>> {
  return {
    provider: receiver.provider.id,
    authenticated,
    decision: simulation.decision,
    ...defined({ malformed: simulation.malformed, refused: simulation.refused }),
    pushes: simulation.pushes.map(({ event, idempotencyKey }) => ({
      registry: event.repository.registry,
      repository: event.repository.path,
      tag: event.tag,
      ...defined({ digest: event.digest, pushedAt: event.pushedAt, idempotencyKey }),
    })),
    ignored: simulation.ignored,
  };
}

/** The result of a simulation as text for people. */
export function formatSimulation(receiver: SimulatedReceiver, simulation: Simulation, authenticated: Authenticated): string {
  const { decision, malformed, refused, pushes, ignored } = simulation;
  const lines = [
    row('provider', receiver.provider.id),
    row('authenticated', proofs[authenticated]),
    row('decision', `${decision}: ${decisions[decision]}`),
    ...[malformed, refused].flatMap((why) => (why === undefined ? [] : [row('because', why)])),
    ...pushes.flatMap((push) => ['', ...formatPush(push)]),
    ...(ignored.length === 0 ? [] : ['', ...ignored.map(formatIgnored)]),
    ...reasonLinks([malformed === undefined ? undefined : 'Malformed', ...ignored.map(({ code = 'OtherEvent' }) => code)]),
  ];
  return `${lines.join('\n')}\n`;
}

function formatPush({ event, idempotencyKey }: AcceptedPush): string[] {
  const { repository, tag, digest, pushedAt } = event;
  return [
    row('push', `${formatRepository(repository)}:${tag}`),
    row('  registry', repository.registry),
    row('  repository', repository.path),
    row('  tag', tag),
    row('  digest', digest ?? 'not announced: the registry is asked'),
    ...(pushedAt === undefined ? [] : [row('  pushed at', pushedAt)]),
    row(
      '  idempotency',
      idempotencyKey === undefined ? 'no key: the same push again is another one once this one has started' : `key ${idempotencyKey}`,
    ),
  ];
}

function formatIgnored({ reason, repository, tag }: IgnoredPush): string {
  const name = [repository, tag].filter((part) => part !== undefined).join(':');
  return row('ignored', name === '' ? reason : `${name}: ${reason}`);
}

function row(label: string, text: string): string {
  return `${label.padEnd(15)} ${printable(text, 300)}`;
}
