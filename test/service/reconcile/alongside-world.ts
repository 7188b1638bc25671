/** A world in which policy shop/web changes a sidecar alongside: Deployment shop/web runs both in version 1.2.3, and the registry holds them. */
import { parseImageReference } from '../../../src/core/model/image-reference.ts';
import type { PolicySpec } from '../../../src/core/model/image-policy.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { digestOf } from '../../core/model/samples.ts';
import { policyIn, requestAction, start } from './asked-world.ts';
import { contextOf, image, pushOf, setWorkload, startTime, type PortOverrides, type World } from './world.ts';

export const proxy = { registry: 'registry.example.com', path: 'shop/proxy' };
export const proxyImage = 'registry.example.com/shop/proxy';
export const alongside: NonNullable<PolicySpec['alongside']> = { images: [{ repository: proxy }], match: 'SameTag', withinMs: 1_800_000 };

export interface AlongsideWorld extends World {
  /** The time of the service, in ms since 1970, which a test advances. */
  readonly clock: { now: number };
}

export function startAlongside(spec: Partial<PolicySpec> = {}, overrides: PortOverrides = {}): AlongsideWorld {
  const clock = { now: startTime };
  const world = start({ alongside, ...spec }, { ...overrides, cluster: { now: () => clock.now, ...overrides.cluster } });
  world.tags.delete('1.3.0');
  world.companions.set('shop/proxy', new Map([['1.2.3', digestOf('0')]]));
  setWorkload(world, { web: `${image}:1.2.3`, proxy: `${proxyImage}:1.2.3`, other: 'registry.example.com/other:1' });
  return { ...world, clock };
}

/** A push of the policy's own image. */
export function pushOwn(world: AlongsideWorld, tag: string, digest: string): Promise<void> {
  world.tags.set(tag, digest);
  return deliver(world, { tag, digest });
}

/** A push of the sidecar. */
export function pushProxy(world: AlongsideWorld, tag: string, digest: string): Promise<void> {
  world.companions.get('shop/proxy')?.set(tag, digest);
  return deliver(world, { tag, digest, repository: proxy });
}

function deliver(world: AlongsideWorld, push: Parameters<typeof pushOf>[0]): Promise<void> {
  const receivedAt = new Date(world.clock.now - 1_000).toISOString();
  return processPush(pushOf({ id: `push-${world.requests.length}`, receivedAt, ...push }), contextOf(), world.ports);
}

/** A complete reconcile, as when a wait is over. */
export function look(world: AlongsideWorld): Promise<boolean> {
  return requestAction(world, { ...policyIn(world).actions, requestedAt: `look-${world.requests.length}` });
}

/** The tags that both containers run. */
export function runs(world: World): (string | undefined)[] {
  return world
    .images()
    .slice(0, 2)
    .map((text) => parseImageReference(text).tag);
}
