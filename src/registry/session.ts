import type { ImageSource } from '../model/image-source.ts';
import type { Clock } from './answer-errors.ts';
import type { AnswerBudget } from './answer-budget.ts';
import type { AuthenticatedHttp } from './authentication.ts';
import type { Registry } from './registries.ts';

/** Whom to ask about a repository, on whose behalf, and by what means. */
export interface Session {
  readonly send: AuthenticatedHttp;
  readonly clock: Clock;
  readonly budget: AnswerBudget;
  readonly registry: Registry;
  readonly source: ImageSource;
  readonly signal?: AbortSignal | undefined;
}
