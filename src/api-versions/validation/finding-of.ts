import { PermanentError } from '../../model/errors.ts';
import type { Finding } from '../rules.ts';

/** What a pure room has against a value: the PermanentError of building something from it, as a finding. */
export function findingOf(build: () => unknown): Finding[] {
  try {
    build();
    return [];
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    return [{ message: error.message, reason: error.reason }];
  }
}
