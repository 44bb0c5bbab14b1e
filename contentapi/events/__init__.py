"""Events: what happened to the objects of the apps, in one durable log that the feed reads.

A trigger of each table writes a row to the outbox, in the transaction of the change. The relay moves the rows to the
log, where each event gets its position. The apps declare their triggers (`triggers`) and how an event shows its object
(`sources`). This package imports no app.
"""
