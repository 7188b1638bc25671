/** What the author of a policy reads in its condition when the registry, which the configuration names, cannot be connected to. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { freePort } from '../harness/free-port.ts';
import { createAuthority, loopback } from '../harness/server-certificate.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { startWorld, type World } from './world.ts';

const [ours, stranger] = await Promise.all([createAuthority('ours'), createAuthority('stranger')]);
const caFile = join(tempFolder('connection-causes'), 'ca.crt');
writeFileSync(caFile, ours.ca);

type Pair = Awaited<ReturnType<typeof ours.issue>>;
const servers: Server[] = [];
const sockets = new Set<{ destroy: () => void }>();

async function listen(server: Server): Promise<string> {
  server.on('connection', (socket) => sockets.add(socket));
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const secure = async (pair: Promise<Pair>) => listen(createTlsServer(await pair, (_, response) => response.end('{"tags":[]}')));

const causes: Readonly<Record<string, readonly [open: () => Promise<string>, expected: RegExp]>> = {
  expired: [() => secure(ours.issue(loopback, -3_600_000)), /its certificate expired on \d{4}-\d\d-\d\dT\S+Z .*; renew the certificate/],
  'wrong-name': [
    () => secure(ours.issue([{ type: 'dns', value: 'other.example.com' }])),
    /its certificate is for other\.example\.com, not for 127\.0\.0\.1/,
  ],
  'unknown-authority': [
    () => secure(stranger.issue(loopback)),
    /its certificate is from an unknown authority .*; if a private authority issued it, set caFile for it in registries/,
  ],
  'plain-http': [() => listen(createHttpServer((_, response) => response.end())), /it does not answer with TLS .*; .* set insecure: true/],
  refused: [async () => `127.0.0.1:${await freePort()}`, /the connection was refused by 127\.0\.0\.1:\d+/],
  'unknown-name': [async () => 'registry.missing.invalid', /DNS (?:does not know its name|did not answer)/],
  silent: [() => listen(createServer(() => undefined)), /timed out: no answer from 127\.0\.0\.1:\d+ within \d+ ms/],
};

describe('the condition of a policy names the cause of a failed connection to its registry', () => {
  const hosts = new Map<string, string>();
  let world: World;
  before(async () => {
    for (const [name, [open]] of Object.entries(causes)) hosts.set(name, await open());
    world = await startWorld();
    await world.start({ config: { registries: [...hosts.values()].map((host) => ({ host, caFile })) } });
    for (const [name, host] of hosts) {
      await world.createDeployment(name, `${host}/shop/app:1.0.0`);
      await world.createPolicy(name, `${host}/shop/app`, { strategy: 'SemVer' });
    }
  });
  after(async () => {
    await world?.stop();
    for (const socket of sockets) socket.destroy();
    for (const server of servers) server.close();
  });

  for (const [name, [, expected]] of Object.entries(causes))
    it(name, async () => {
      await waitFor(`the cause in the status of ${name}`, async () => {
        const policy = (await world.listPolicies()).find(({ metadata }) => metadata.name === name);
        return policy?.status?.conditions?.some(({ message }) => message.includes(hosts.get(name) ?? '-') && expected.test(message));
      });
    });
});
