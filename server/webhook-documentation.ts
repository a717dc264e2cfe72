import type { FastifyInstance, FastifyRequest } from 'fastify';

interface EventType {
  type: string;
  description: string;
  dataSchema: object;
  example: object;
}

type Description = Readonly<Record<string, unknown>>;

const MOST_ACTOR_NAME = 32;

/**
 * The section `webhooks` of the API's description: what is sent, out of the same catalogue that
 * GET /api/webhook-event-types gives. The page is open to anyone, so only types that were given an
 * example are on it: the names of the other ones are the installation's own business.
 */
export function webhookDocumentation(app: FastifyInstance) {
  const known = new WeakMap<FastifyRequest, EventType[]>();
  return {
    uiHooks: {
      preHandler: async (request: FastifyRequest) => {
        if (/\/(json|yaml)$/.test(request.routeOptions.url ?? '')) {
          known.set(request, await findEventTypes(app, request));
        }
      },
    },
    transformSpecification: (description: Description, request: FastifyRequest) => ({
      ...description,
      webhooks: Object.fromEntries(
        (known.get(request) ?? []).map((each) => [each.type, pathOf(each)]),
      ),
    }),
  };
}

/** Without a database the rest of the description is still of use. */
async function findEventTypes(app: FastifyInstance, request: FastifyRequest): Promise<EventType[]> {
  try {
    return await app.database.read<EventType>(
      'select type, description, data_schema, example from bellwire.webhook_event_types() where is_documented',
    );
  } catch (error) {
    request.log.warn({ err: error }, 'the description of the API has no webhooks');
    return [];
  }
}

function pathOf({ type, description, dataSchema, example }: EventType) {
  return {
    post: {
      tags: ['webhooks'],
      summary: description,
      security: [],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: envelopeOf(type, dataSchema),
            example: { ...EXAMPLE, type, data: example },
          },
        },
      },
      responses: ANSWERS,
    },
  };
}

function envelopeOf(type: string, data: object) {
  const properties = {
    id: { type: 'string', format: 'uuid', description: 'Of the event, as webhook-id' },
    type: { const: type },
    version: { const: 1 },
    sequence: { type: 'integer' },
    occurred_at: { type: 'string', format: 'date-time' },
    workspace_id: { type: ['integer', 'null'] },
    squad_id: { type: ['integer', 'null'] },
    actor: {
      type: ['object', 'null'],
      properties: {
        id: { type: 'integer' },
        name: { type: ['string', 'null'], maxLength: MOST_ACTOR_NAME },
      },
      required: ['id', 'name'],
    },
    data,
  };
  return { type: 'object', properties, required: Object.keys(properties) };
}

const EXAMPLE = {
  id: 'd0e973b9-117b-4fb6-8143-098ac96225ef',
  type: '',
  version: 1,
  sequence: 5,
  occurred_at: '2026-11-30T19:16:17.712Z',
  workspace_id: 1,
  squad_id: 1,
  actor: { id: 2, name: 'Ben Okri' },
  data: {},
};

/** As docs/webhooks.md has them. */
const ANSWERS = {
  '2XX': { description: 'Delivered' },
  '410': { description: 'Disables the subscription' },
  '422': { description: 'Gives this event up' },
  default: { description: 'Tried again, later and later' },
};
