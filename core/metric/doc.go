// Package metric keeps the samples that polls bring, and what is made of them: one row for one thing at one time.
//
// There are three resolutions, each in partitions that are made ahead and dropped whole, so that nothing is ever deleted
// row by row: samples as polled (a partition for each day in UTC), five minutes (days) and one hour (months). Any number
// of instances may make and drop partitions and roll up at once.
//
// RollUp makes five minutes of samples and hours of five minutes by set-based statements, at most an hour of samples, or
// six hours of five minutes, in one transaction, which also notes how far it has come: it may be cut off anywhere and goes
// on there. Rolling up again gives the same rows. Samples may come late: polls bring those of the last minutes again and
// again, so each run also redoes the half hour before it; what is later still (a gap that was filled, up to a day long) is
// noted by the poll in metric_late, hour by hour, and redone.
//
// Traffic in a rollup is what passed, in bytes: see the migration that makes the tables.
//
// Store.Query gives series for charts, WriteGuests the last figures of guests as OpenMetrics, DaysUntilFull where the use of storages
// leads, and Export the samples one after another, for core/remotewrite. None of them asks the database once for each thing.
package metric
