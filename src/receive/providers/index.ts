/** The list of providers: a new one is a file here, a line here, fixtures and a section in docs/receivers.md. */
import { distribution } from './distribution.ts';
import { harbor } from './harbor.ts';
import type { Provider } from './provider.ts';

export const providers: readonly Provider[] = [distribution, harbor];

/** Ids for the configuration. */
export const providerIds: readonly string[] = providers.map((provider) => provider.id);
