import { routes as own } from '../../src/service/api/routes/index.ts';
import { wings } from '../../src/wings.ts';

const services = await Promise.all(wings.map(async ({ service }) => service?.()));

/** All routes of the API, with those of wings. */
export const routes = [...own, ...services.flatMap((service) => service?.routes ?? [])];
