/** A page as data: where it is, what it reads from the API, and what it shows. */
import type { z } from 'zod';
import type { getCaller } from '../service/api/routes/installation.ts';
import type { Api } from './api-client.ts';
import type { Html } from './html.ts';
import type { Texts } from './texts/en.ts';

/** Who the API takes the user for, and what it lets him do. */
export type Caller = z.output<(typeof getCaller)['answer']>;

/** Who looks at a page, and how. */
export interface Viewer {
  readonly texts: Texts;
  /** Undefined before the sign-in. */
  readonly caller?: Caller | undefined;
  /** Whether the user signed in here, and can sign out. */
  readonly canSignOut: boolean;
}

/** What a page gets of a request. */
export interface PageCall {
  readonly api: Api;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly texts: Texts;
  readonly caller: Caller;
  readonly settings: PageSettings;
}

/** The values of a query, or of a form. */
export interface Query {
  /** The first value of this name; undefined if it is absent or empty. */
  one(name: string): string | undefined;
  all(name: string): readonly string[];
}

/** What pages know of the configuration. */
export interface PageSettings {
  /** The public address of the receivers, without a path. */
  readonly webhookUrl?: string | undefined;
}

export interface PageContent {
  readonly title: string;
  readonly body: Html;
  /** Whether the page is read again when policies change. */
  readonly isLive?: boolean;
}

export interface Page {
  /** As Fastify writes it: `/policies/:namespace/:name`. */
  readonly path: string;
  /** The entry of the menu that it belongs to. */
  readonly section: Section;
  /** Reads what it shows; throws ApiFailure. */
  readonly show: (call: PageCall) => Promise<PageContent>;
}

export const sections = ['overview', 'policies', 'events', 'approvals', 'setup'] as const;
export type Section = (typeof sections)[number];
