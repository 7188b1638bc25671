/** The list of providers: a new one is a file here, a line here, fixtures and a section in docs/receivers.md. */
import { acr } from './acr.ts';
import { distribution } from './distribution.ts';
import { dockerHub } from './docker-hub.ts';
import { ecr } from './ecr.ts';
import { ghcr } from './ghcr.ts';
import { google } from './google.ts';
import { harbor } from './harbor.ts';
import type { Provider } from './provider.ts';
import { quay } from './quay.ts';

export const providers: readonly Provider[] = [acr, distribution, dockerHub, ecr, ghcr, google, harbor, quay];

/** Ids for the configuration. */
export const providerIds: readonly string[] = providers.map((provider) => provider.id);
