import { readFileSync } from 'node:fs';
import { stdin } from 'node:process';
import { buffer } from 'node:stream/consumers';
import { readConfig, registryAliases } from '../service/config/settings.ts';
import { processSource } from '../service/config/environment.ts';
import { describeReadError } from '../service/config/read-error.ts';
import { providerIds, providers } from '../service/receive/providers/index.ts';
import type { Provider } from '../service/receive/providers/provider.ts';
import { provesNothing } from '../service/receive/providers/headers.ts';
import { simulateDelivery, type SimulatedReceiver } from '../service/receive/read-delivery.ts';
import { defineCommand, UsageError } from '../service/command-line/command.ts';
import { outputOption, print } from '../service/command-line/output.ts';
import { formatSimulation, toJson, type Authenticated } from './simulate-output.ts';
import { summaries } from './summaries.ts';
import { fileOption } from '../service/command-line/usual-options.ts';

export const simulate = defineCommand({
  name: 'simulate',
  summary: summaries.simulate,
  about: `Reads a webhook's body as the receiver would, and shows which pushes it announces, in normal form, and what is ignored and why. Nothing is sent, stored or fetched. Name the sender by --provider, or by --config and --receiver.

Exit codes: 0 a push would be accepted, 1 nothing would, 2 wrong usage.`,
  options: {
    provider: { value: 'ID', about: `who sent it: ${providerIds.join(', ')}` },
    file: { value: 'BODY', completes: 'file', about: 'the exact bytes of the body; - is the standard input' },
    header: {
      value: 'HEADER',
      multiple: true,
      about: '"Name: value": a header of the request, as often as needed: some senders say in a header what happened',
    },
    registry: { value: 'HOST', about: 'the receiver\'s setting "registry"' },
    config: fileOption(
      'a configuration file: provider, registry, repositories and aliases are those of --receiver; its secrets are not read',
    ),
    receiver: { value: 'NAME', about: 'a receiver of --config' },
    'secret-env': { value: 'NAME', about: 'an environment variable with a secret: shows whether the request would be accepted with it' },
    ...outputOption,
  },
  examples: [
    ['simulate --provider harbor --file body.json', 'a body that Harbor sent'],
    ['simulate --config config.yaml --receiver ci --file -', 'as a receiver of the configuration, from the standard input'],
  ],
  async run(values, _args, terminal) {
    if (values.file === undefined) throw new UsageError('say which --file holds the body, or --file - for standard input');
    const receiver = readReceiver(values);
    const headers = readHeaders(values.header ?? []);
    const secret = readSecret(values['secret-env']);
    const delivery = { headers, body: await readBody(values.file) };
    const simulation = simulateDelivery(delivery, receiver, new Date());
    const authenticated =
      secret === undefined ? 'not tried' : authenticate(receiver.provider, () => receiver.provider.verify(delivery, [secret]));
    print(terminal, values.output, toJson(receiver, simulation, authenticated), () =>
      formatSimulation(receiver, simulation, authenticated),
    );
    return simulation.decision === 'accept' && authenticated !== 'no' ? 0 : 1;
  },
});

type Values = Partial<Record<'provider' | 'registry' | 'config' | 'receiver', string | undefined>>;

function readReceiver({ provider: id, registry, config: file, receiver: name }: Values): SimulatedReceiver {
  if ((file === undefined) !== (name === undefined)) throw new UsageError('--config and --receiver belong together');
  if (file === undefined && id === undefined) throw new UsageError('say --provider, or --config and --receiver');
  if (file === undefined) return { name: 'simulated', provider: findProvider(id), registryOverride: registry, aliases: new Map() };
  const config = readConfig(processSource(file));
  const receiver = config.receivers.find((candidate) => candidate.name === name);
  if (receiver === undefined) throw new UsageError(`${file} has no receiver "${name}"`);
  if (id !== undefined && id !== receiver.provider)
    throw new UsageError(`receiver "${name}" is of the provider ${receiver.provider}, not ${id}`);
  return {
    name: receiver.name,
    provider: findProvider(receiver.provider),
    registryOverride: registry ?? receiver.registry,
    repositories: registry === undefined ? receiver.repositories : undefined,
    aliases: registryAliases(config),
  };
}

function findProvider(id: string | undefined): Provider {
  const provider = providers.find((candidate) => candidate.id === id);
  if (provider === undefined) throw new UsageError(`there is no provider "${id}"; there are ${providerIds.join(', ')}`);
  return provider;
}

/** Parses header lines. Names are in lower case, as in a received request. */
function readHeaders(lines: readonly string[]): Record<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name, value = ''] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(.*?)\s*$/s.exec(line) ?? [];
    if (name === undefined) throw new UsageError(`--header is "Name: value", not "${line}"`);
    const key = name.toLowerCase();
    if (headers.has(key)) throw new UsageError(`the header ${name} is given twice`);
    headers.set(key, value);
  }
  return Object.fromEntries(headers);
}

function readSecret(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  const secret = processSource().env[name];
  if (!secret) throw new UsageError(`the environment variable ${name} is not set`);
  return secret;
}

async function readBody(file: string): Promise<Buffer> {
  try {
    return file === '-' ? await buffer(stdin) : readFileSync(file);
  } catch (error) {
    throw new UsageError(`${file} ${describeReadError(error)}`, { cause: error });
  }
}

function authenticate({ verify }: Provider, isAuthentic: () => boolean): Authenticated {
  if (verify === provesNothing) return 'by URL only';
  return isAuthentic() ? 'yes' : 'no';
}
