/** A page as data: its address, what it reads from the API, and what it shows. */
import type { z } from 'zod';
import type { RecordKind } from '../service/api/record-feed.ts';
import type { getCaller } from '../service/api/routes/installation.ts';
import type { Api } from './api-client.ts';
import type { ActionName } from './action-list.ts';
import type { Html } from './html.ts';
import type { Texts } from './texts/en.ts';

/** The current user according to the API, and the user's permissions. */
export type Caller = z.output<(typeof getCaller)['answer']>;

/** The user of a page, the texts in the user's language, and the options to show. */
export interface Viewer {
  readonly texts: Texts;
  /** The user; undefined before the sign-in. */
  readonly caller?: Caller | undefined;
  /** The name of the cluster, if it has one. */
  readonly cluster?: string | undefined;
  /** Whether the user signed in here, and so can sign out. */
  readonly canSignOut: boolean;
}

/** The parts of a request that a page uses. */
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

/** The parts of the configuration that pages use. */
export interface PageSettings {
  /** The public address of the receivers, without a path. */
  readonly webhookUrl?: string | undefined;
  /** The name of the cluster for people. */
  readonly cluster?: string | undefined;
  /** The label of policies that names a team. */
  readonly teamLabel: string;
}

export interface PageContent {
  readonly title: string;
  readonly body: Html;
  /** Whether the page is read again when policies change. */
  readonly isLive?: boolean;
  /** The only policy whose changes the page follows; all unless given. */
  readonly follows?: { readonly namespace: string; readonly name: string } | undefined;
  /** What the page follows, besides or instead of policies; the changes of all policies unless given. */
  readonly followed?: readonly Followed[] | undefined;
}

export type Followed = 'policies' | RecordKind;

/** Content that all users share who may see the same, and in which each is offered what he may do. */
export interface Offering {
  /** The namespaces of what is offered. */
  readonly acted: Acted;
  readonly offer: (rights: Rights) => Promise<PageContent> | PageContent;
}

/** The namespaces of policies, and of policies of bases, on which a page offers actions. */
export interface Acted {
  readonly policies?: readonly string[];
  readonly bases?: readonly string[];
}

/** What a user may do in some namespaces. */
export interface Rights {
  /** Whether he may request the action, as far as that is known: the API server decides when it is requested. */
  may(action: ActionName, on: { readonly namespace: string }, of?: keyof Acted): boolean;
  /** The same text for users who may do the same. */
  readonly key: string;
}

/** The address of another page that is shown instead. */
export interface Redirection {
  readonly redirect: string;
}

export interface Page {
  /** The path in the syntax of Fastify: `/policies/:namespace/:name`. */
  readonly path: string;
  /** The entry of the menu to which the page belongs; absent for the search over everything and the reference of the API. */
  readonly section?: Section;
  /** Whether it shows what depends on more than which policies the user may see and change, so that no two users share a reading. */
  readonly isPersonal?: true;
  /** Reads and shows the content of the page. Throws ApiFailure. */
  readonly show: (call: PageCall) => Promise<PageContent | Offering | Redirection>;
}

/** The entries of the menu. */
export const sections = ['now', 'policies', 'images', 'bases', 'activity', 'approvals', 'setup'] as const;
export type Section = (typeof sections)[number];

/** Whether the API has the record of activity, which is an optional part of it. Without it, the section has the pushes alone. */
export function hasActivity({ features = [] }: Pick<Caller, 'features'>): boolean {
  return features.includes('activity');
}

/** Whether the API has the targets of notifications, which are an optional part of it. */
export function hasNotifications({ features = [] }: Pick<Caller, 'features'>): boolean {
  return features.includes('notify');
}

/** Whether the API has what a section shows: bases are an optional part of it. */
export function hasSection({ features = [] }: Pick<Caller, 'features'>, section: Section): boolean {
  return section !== 'bases' || features.includes(section);
}
