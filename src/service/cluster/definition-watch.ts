/** Watches for CustomResourceDefinitions that are installed or changed, so that a kind that a policy waits for is found without delay. */
import type { KubeClient } from '../kube/client.ts';
import { createObjectStore, type StoredObject } from '../kube/object-store.ts';
import { listPath } from '../kube/objects.ts';
import { readMetadata } from '../kube/watch-events.ts';
import type { Logger } from '../telemetry/logger.ts';
import { startOptionalWatch, type OptionalWatch } from './optional-watch.ts';

/** The optional watch of all definitions. */
export interface DefinitionWatch {
  start(): void;
  /** The watch of the definitions, if it has started. */
  watches(): readonly OptionalWatch[];
  stop(): Promise<void>;
}

export interface DefinitionWatchOptions {
  /** The namespaces to watch. If there are any, definitions are not watched, because a Role cannot grant that. */
  readonly namespaces: readonly string[];
  readonly logger: Logger;
  /** Discovers those kinds of an API group again that the API server did not serve. */
  readonly rediscover: (group: string) => void;
}

const definitionResource = { apiVersion: 'apiextensions.k8s.io/v1', resource: 'customresourcedefinitions' } as const;
const without = 'a kind that is installed after the policy that names it is found within ten seconds to six minutes';

/** Creates the watch, which does not connect before `start`. */
export function createDefinitionWatch({ namespaces, logger, rediscover }: DefinitionWatchOptions, client: KubeClient): DefinitionWatch {
  const store = createObjectStore<StoredObject>();
  const rediscoveries = createRediscoveries(rediscover);
  let watch: OptionalWatch | undefined;
  store.subscribe(({ type, object }) => {
    const group = groupOf(object.name);
    if (type === 'deleted' || group === undefined) return;
    // Definitions in the first list were installed before the start, so one discovery is enough for them.
    if (watch?.reflector.state().synced === true) rediscoveries.onChange(group);
    else rediscover(group);
  });
  return {
    start() {
      if (namespaces.length > 0) return;
      watch = startOptionalWatch({
        name: definitionResource.resource,
        without,
        client,
        path: listPath(definitionResource),
        metadataOnly: true,
        project: projectDefinition,
        store,
        logger,
      });
    },
    watches: () => (watch === undefined ? [] : [watch]),
    async stop() {
      await watch?.reflector.stop();
      rediscoveries.stop();
    },
  };
}

/**
 * The pauses between the discoveries after a change, in ms. The metadata of a definition do not show whether it is established, and an API server serves a kind
 * some milliseconds to seconds after that.
 */
const pausesMs: readonly number[] = [200, 200, 400, 800, 1_600, 3_200];

/** Discovers an API group immediately after a change, and some more times. Each change starts the pauses anew. */
export function createRediscoveries(rediscover: (group: string) => void) {
  const running = new Map<string, { readonly next: number; readonly timer: NodeJS.Timeout }>();
  const schedule = (group: string, next: number): void => {
    const pauseMs = pausesMs[next];
    if (pauseMs === undefined) {
      running.delete(group);
      return;
    }
    const retry = () => {
      rediscover(group);
      schedule(group, next + 1);
    };
    running.set(group, { next, timer: setTimeout(retry, pauseMs) });
  };
  return {
    onChange(group: string) {
      const current = running.get(group);
      // If the first pause is still running, it continues, so that many changes do not cause more discoveries.
      if (current?.next === 0) return;
      if (current === undefined) rediscover(group);
      else clearTimeout(current.timer);
      schedule(group, 0);
    },
    stop() {
      for (const { timer } of running.values()) clearTimeout(timer);
      running.clear();
    },
  };
}

/** A definition reduced to the fields by which changes are recognised. A cluster may have hundreds of definitions, with large annotations. */
function projectDefinition(raw: unknown): StoredObject {
  return { ...readMetadata(raw), uid: '' };
}

/** The group in the name of a definition, which is its plural and its group: `rollouts.argoproj.io`. */
function groupOf(name: string): string | undefined {
  const dot = name.indexOf('.');
  return dot === -1 ? undefined : name.slice(dot + 1);
}
