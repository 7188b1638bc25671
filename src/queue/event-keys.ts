/** Keys of the audit records: a hash for each event, and sorted sets by time of receipt (ms). They share one prefix, which is one Cluster slot. */
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
