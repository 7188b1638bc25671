/** The cache of NotificationTargets. Nothing waits for it, because their definition may not be installed, and reading them may be forbidden. */
import { readNotificationTarget } from './resource/read-target.ts';
import { notificationTarget } from './resource/kind.ts';
import { apiVersion } from '../service/resources/v1.ts';
import type { KubeClient } from '../service/kube/client.ts';
import { createObjectStore, type ObjectStore } from '../service/kube/object-store.ts';
import type { NotificationTarget } from '../core/model/notification-target.ts';
import type { Logger } from '../service/telemetry/logger.ts';
import { startOptionalReflector, type OptionalReflector } from '../service/cluster/optional-reflector.ts';
import { listPath } from '../service/kube/objects.ts';

/** The resource of NotificationTargets. */
export const notificationTargetResource = { apiVersion, resource: notificationTarget.plural };

export interface NotificationTargetCache {
  readonly targets: ObjectStore<NotificationTarget>;
  /** Starts the watches of these namespaces; `undefined` stands for all namespaces. */
  start(namespaces: readonly (string | undefined)[]): void;
  /** Resolves when the targets are listed, or when the API server has answered that there are none. */
  settled(): Promise<unknown>;
  /** Whether a target that is not in the cache does not exist. */
  isComplete(): boolean;
  stop(): Promise<void>;
}

/** An empty cache. It connects when `start` is called. */
export function createNotificationTargetCache({ client, logger }: { client: KubeClient; logger: Logger }): NotificationTargetCache {
  const targets = createObjectStore<NotificationTarget>();
  let reflectors: OptionalReflector[] = [];
  return {
    targets,
    start(namespaces) {
      reflectors = namespaces.map((namespace) =>
        startOptionalReflector(
          { client, path: listPath(notificationTargetResource, namespace), project: readNotificationTarget, store: targets },
          { logger, message: 'notification targets cannot be watched' },
        ),
      );
    },
    settled: () => Promise.all(reflectors.map((reflector) => reflector.settled)),
    isComplete: () => reflectors.length > 0 && reflectors.every((reflector) => reflector.state().synced),
    async stop() {
      await Promise.all(reflectors.map((reflector) => reflector.stop()));
    },
  };
}
