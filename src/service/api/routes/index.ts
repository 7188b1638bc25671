/** Every route of the API, in the order of the OpenAPI document. */
import type { Route } from '../route.ts';
import { actions } from './actions.ts';
import { getCauses } from './causes.ts';
import { getEvent, getEvents, postReplay } from './events.ts';
import { getImages, getRepositories, getVersions } from './images.ts';
import { getCaller, getDoctor, getInstallation, getNamespace, getOverview, getReceivers, getRegistries } from './installation.ts';
import { getPods } from './pods.ts';
import { getPermitted, getPermittedIn } from './permitted.ts';
import { explainPolicy, getPolicies, getPolicy, getResource, streamPolicies } from './policies.ts';

export const routes: readonly Route[] = [
  getPolicies,
  getPolicy,
  getResource,
  explainPolicy,
  getPermitted,
  getPermittedIn,
  getPods,
  streamPolicies,
  getImages,
  getRepositories,
  getVersions,
  ...actions,
  getEvents,
  getEvent,
  postReplay,
  getCauses,
  getOverview,
  getReceivers,
  getRegistries,
  getInstallation,
  getDoctor,
  getNamespace,
  getCaller,
];
