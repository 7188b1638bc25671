/** Where the audit records are in Redis: one hash for each event, and sorted sets by time of receipt (ms). All under one prefix, one Cluster slot. */
export interface EventKeys {
  readonly hash: (id: string) => string;
  readonly byTime: string;
  /** `registry/path`. */
  readonly byRepository: (repository: string) => string;
  readonly unwatched: string;
  /** Registries by the time of their last push that a policy watches. */
  readonly announcements: string;
}

/** The keys under a prefix. */
export function eventKeys(prefix: string): EventKeys {
  return {
    hash: (id) => `${prefix}:event:${id}`,
    byTime: `${prefix}:events`,
    byRepository: (repository) => `${prefix}:events:repository:${repository}`,
    unwatched: `${prefix}:events:unwatched`,
    announcements: `${prefix}:events:registries`,
  };
}
